// SPDX-License-Identifier: GPL-2.0-or-later
// Which transport of a list is used: the first over which the server is heard. The client requests
// the most preferred one first. Each but the last must be heard in time, or the client requests the
// next one; all of them take at most 1.5 s plus the round trips of their SETUPs. They are tried one
// after the other, not side by side as in Happy Eyeballs (RFC 8305): a server has one transport a
// session.
#ifndef WEIR_PROTOCOL_TRANSPORT_FALLBACK_H
#define WEIR_PROTOCOL_TRANSPORT_FALLBACK_H

#include <stdbool.h>

#include "common/base/usec.h"
#include "common/protocol/transport_names.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRANSPORT_FALLBACK_TIME (1500 * USEC_PER_MSEC)
// The longest wait for one transport, unless the round trip is longer.
#define TRANSPORT_FALLBACK_WAIT (500 * USEC_PER_MSEC)

enum { TRANSPORT_FALLBACK_TEXT = 512 };

struct transport_fallback {
    struct transport_list left; // the most preferred first
    bool single;                // the list had one entry
    usec_t asked;               // when the current one was requested
    usec_t until;               // deadline of all; 0: not begun
    char why[TRANSPORT_FALLBACK_TEXT];
};

void transport_fallback_init(struct transport_fallback *c, const struct transport_list *list);
// The transports to offer in one SETUP: those left or, unless `alternatives`, the first of them.
struct transport_list transport_fallback_offer(const struct transport_fallback *c,
                                               bool alternatives);
// Removes `name`, if it is left. `why`: an English sentence without a full stop.
void transport_fallback_rule_out(struct transport_fallback *c, const char *name, const char *why);
// The server accepted `name`, one of those left, and so none of those before it. Returns the time
// until which the server must be heard; USEC_NEVER: no other transport is left.
usec_t transport_fallback_given(struct transport_fallback *c, const char *name, usec_t rtt,
                                usec_t now);
// The server was heard over the first transport that is left.
void transport_fallback_heard(struct transport_fallback *c, usec_t now);
// Why this transport was chosen, for people; empty if the list had one entry.
const char *transport_fallback_why(const struct transport_fallback *c);

#ifdef __cplusplus
}
#endif
#endif
