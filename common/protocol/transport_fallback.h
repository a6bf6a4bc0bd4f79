// SPDX-License-Identifier: GPL-2.0-or-later
// Selects a transport from a list: the first over which the server responds. The client requests
// the most preferred transport first. If the server does not respond over it in time, the client
// requests the next one; the last has no deadline. All of them take at most 1.5 s plus the round
// trips of their SETUPs. They are tried one after the other, not in parallel as in Happy Eyeballs
// (RFC 8305), because a server has one transport per session.
#ifndef WEIR_PROTOCOL_TRANSPORT_FALLBACK_H
#define WEIR_PROTOCOL_TRANSPORT_FALLBACK_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/protocol/transport_names.h"

DECLS_BEGIN

#define TRANSPORT_FALLBACK_TIME (1500 * USEC_PER_MSEC)
// The longest wait for one transport, unless the round trip is longer.
#define TRANSPORT_FALLBACK_WAIT (500 * USEC_PER_MSEC)

enum { TRANSPORT_FALLBACK_TEXT = 512 };

struct transport_fallback {
    struct transport_list left; // the most preferred first
    bool single;                // the list had one entry
    usec_t asked;               // when the current one was requested
    usec_t until;               // deadline of all transports; 0: not started
    char why[TRANSPORT_FALLBACK_TEXT];
};

void transport_fallback_init(struct transport_fallback *c, const struct transport_list *list);
// The transports to offer in one SETUP: those left or, unless `alternatives`, the first of them.
struct transport_list transport_fallback_offer(const struct transport_fallback *c,
                                               bool alternatives);
// Removes `name`, if it is left. `why`: an English sentence without a full stop.
void transport_fallback_rule_out(struct transport_fallback *c, const char *name, const char *why);
// The server did not respond over the first transport that is left. Removes it and, if it is over
// UDP, all that are: a network that blocks one blocks them all.
void transport_fallback_failed(struct transport_fallback *c, const char *why);
// The server accepted `name`, and refused those before it. Returns the deadline of the server's
// response; USEC_NEVER: no other one would be tried.
usec_t transport_fallback_given(struct transport_fallback *c, const char *name, usec_t rtt,
                                usec_t now);
// The server responded over the first transport that is left.
void transport_fallback_heard(struct transport_fallback *c, usec_t now);
// The reason for this transport, for people; empty if the list had one entry.
const char *transport_fallback_why(const struct transport_fallback *c);

DECLS_END
#endif
