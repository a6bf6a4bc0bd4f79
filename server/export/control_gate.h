// SPDX-License-Identifier: GPL-2.0-or-later
// Hands requests of the control interface from the HTTP server's thread to the loop, one at a time,
// and waits for the result.
#ifndef WEIR_SERVER_EXPORT_CONTROL_GATE_H
#define WEIR_SERVER_EXPORT_CONTROL_GATE_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "server/policy/control_target.h"

DECLS_BEGIN

struct control_gate; // opaque

enum { CONTROL_GATE_WAIT_S = 2 }; // max. time until the loop begins with a request

enum { CONTROL_CREATED = 1 }; // a result that is no error: there is something new

// Called on the loop's thread. Returns 0 or CONTROL_CREATED; ERR_NOT_FOUND: no such session or
// source; ERR_RANGE: no such level; ERR_UNSUPPORTED: this server cannot do that; ERR_MALFORMED: the
// source is not valid; ERR_FULL: too many sources; ERR_AGAIN: not yet; ERR_NO_MEMORY.
// *json: the response's body, of ERR_UNSUPPORTED and ERR_MALFORMED a text for people; malloc'ed;
// NULL: none.
typedef int control_gate_fn(void *ctx, const struct control_request *r, char **json, usec_t now);

// NULL: no memory.
struct control_gate *control_gate_new(uv_loop_t *loop, control_gate_fn *fn, void *ctx);
// Loop's thread. A request that waits, and each later one, gets ERR_CLOSED.
void control_gate_close(struct control_gate *g);
// After the last control_gate_ask. The loop must run on until its handles are closed.
void control_gate_free(struct control_gate *g); // NULL is fine
// Another thread, one at a time. Returns what `fn` returns; ERR_TIMED_OUT: the loop is busy, and
// nothing was done; ERR_CLOSED.
int control_gate_ask(struct control_gate *g, const struct control_request *r, char **json);

DECLS_END
#endif
