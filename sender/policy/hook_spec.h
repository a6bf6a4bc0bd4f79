// SPDX-License-Identifier: GPL-2.0-or-later
// The hooks of --on: "EVENT COMMAND ARGUMENT...", the words apart by spaces. No shell reads them:
// what needs one is a script. Pure.
#ifndef WEIR_SENDER_POLICY_HOOK_SPEC_H
#define WEIR_SENDER_POLICY_HOOK_SPEC_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/event.h"

DECLS_BEGIN

enum { HOOKS_MAX = 16, HOOK_WORDS = 32, HOOK_TEXT = 1024 };

struct hook_spec {
    enum event_kind event;
    const char *command; // borrowed: the text from its first word on
};

struct hook_specs { // all zero at first
    int count;
    struct hook_spec hooks[HOOKS_MAX];
};

// The words of a command.
struct hook_command {
    char text[HOOK_TEXT];
    char *words[HOOK_WORDS + 1]; // NULL after the last
};

// Adds the hook, and borrows the text. Returns NULL, or what is wrong with it: a static text, or
// one in `reason`.
const char *hook_specs_add(struct hook_specs *h, const char *text, char *reason, size_t cap);
void hook_command_read(struct hook_command *c, const char *command);

DECLS_END
#endif
