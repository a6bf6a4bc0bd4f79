// SPDX-License-Identifier: GPL-2.0-or-later
// What the control interface has changed of the sources that the command line and the configuration
// file name. Pure.
//
// It may name cameras, the test picture and paths to publish to, and nothing that is on this
// machine: no file, folder, pipe, device or screen. So the bearer of a key cannot read with the
// server's rights what only the server's owner may name.
#ifndef WEIR_SENDER_POLICY_SOURCE_CHANGES_H
#define WEIR_SENDER_POLICY_SOURCE_CHANGES_H

#include "common/base/decls.h"
#include "sender/policy/source_name.h"

DECLS_BEGIN

enum {
    SOURCE_TEXT_MAX = 512,                // bytes of a source, with NUL
    SOURCE_CHANGES_MAX = 2 * SOURCES_MAX, // as many are removed as were there, and others added
};

struct source_change {
    char path[SOURCE_PATH_MAX];   // with its first slash
    char source[SOURCE_TEXT_MAX]; // "": it is removed
};

struct source_changes { // zero: none
    int count;
    struct source_change list[SOURCE_CHANGES_MAX];
};

// Returns NULL if a control client may make this source of that path, or why not (static).
// `exists`: the path has a source, whose name is as it is.
const char *source_change_fault(const char *path, const char *source, bool exists);
// Returns the change of a path; NULL: there is none.
const struct source_change *source_changes_find(const struct source_changes *c, const char *path);
// Notes what a path's source is from now on; NULL: it is removed. `is_given`: the configuration has
// the path, so that its removal must be remembered. Returns 0 or ERR_FULL.
int source_changes_set(struct source_changes *c, const char *path, const char *source,
                       bool is_given);

DECLS_END
#endif
