// SPDX-License-Identifier: GPL-2.0-or-later
// Runs the commands of --on when something happens (common/base/event.h), in the order of events:
// HOOKS_AT_ONCE at a time, each for HOOKS_TIME at most, then it is killed. Up to HOOKS_WAITING
// events wait; those beyond are dropped, which the log says. A command finds in its environment
// WEIR_EVENT, WEIR_SUBJECT, WEIR_REASON and WEIR_TIME (UTC, RFC 3339); stdin is empty, its
// output is weir-send's stderr. It gets no descriptor of the server.
#ifndef WEIR_SENDER_SERVE_HOOKS_H
#define WEIR_SENDER_SERVE_HOOKS_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "sender/policy/hook_spec.h"

DECLS_BEGIN

enum { HOOKS_AT_ONCE = 4, HOOKS_WAITING = 64 };
#define HOOKS_TIME (60 * USEC_PER_SEC)

struct hooks; // one in a process at a time

// Takes the events from now on. Call it before the threads that note events begin. NULL: no memory
// (logged).
struct hooks *hooks_new(uv_loop_t *loop, const struct hook_specs *specs);
// Commands that run go on; the loop must run until its handles are closed. NULL is fine.
void hooks_free(struct hooks *h);

DECLS_END
#endif
