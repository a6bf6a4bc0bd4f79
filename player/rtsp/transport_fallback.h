// SPDX-License-Identifier: GPL-2.0-or-later
// Which transport of a list is taken: the first over which the server is heard. The best is asked
// for first; each but the last must be heard of soon, or the next is asked for, all within 1.5 s
// and the round trips of their SETUPs. One after the other, not side by side as happy eyeballs (RFC
// 8305) would: a server has one transport a session.
#ifndef WEIR_PLAYER_RTSP_TRANSPORT_FALLBACK_H
#define WEIR_PLAYER_RTSP_TRANSPORT_FALLBACK_H

#include "common/base/usec.h"
#include "common/transport/transport_list.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRANSPORT_FALLBACK_TIME (1500 * USEC_PER_MSEC)
#define TRANSPORT_FALLBACK_WAIT                                                                    \
    (500 * USEC_PER_MSEC) // the longest, unless the round trip is longer

enum { TRANSPORT_FALLBACK_TEXT = 512 };

struct transport_fallback {
    struct transport_list left; // the best first
    bool single;                // there never was a choice
    usec_t asked;               // the one that is tried now
    usec_t until;               // of all; 0: not begun
    char why[TRANSPORT_FALLBACK_TEXT];
};

void transport_fallback_init(struct transport_fallback *c, const struct transport_list *list);
// This one is not to be had, `why`: an English sentence without a full stop. Anything else may
// remain.
void transport_fallback_rule_out(struct transport_fallback *c, const char *name, const char *why);
// The server gives `name`, of those that are left: it has none that stand before. Returns when the
// server must be heard at the latest; USEC_NEVER: there is nothing else left.
usec_t transport_fallback_given(struct transport_fallback *c, const char *name, usec_t rtt,
                                usec_t now);
// The server was heard over the one that is left first.
void transport_fallback_heard(struct transport_fallback *c, usec_t now);
// Why this one: for people; empty when there was no choice.
const char *transport_fallback_why(const struct transport_fallback *c);

#ifdef __cplusplus
}
#endif
#endif
