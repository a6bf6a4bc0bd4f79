// SPDX-License-Identifier: GPL-2.0-or-later
// Which transport of a list is taken: the first over which the server is heard. The best is asked
// for first; each but the last must be heard of soon, or the next is asked for, all within 1.5 s
// and the round trips of their SETUPs. One after the other, not side by side as happy eyeballs (RFC
// 8305) would: a server has one transport a session.
#ifndef WEIR_PLAYER_TRANSPORT_CHOICE_H
#define WEIR_PLAYER_TRANSPORT_CHOICE_H

#include "common/base/usec.h"
#include "player/transport_list.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRANSPORT_CHOICE_TIME (1500 * USEC_PER_MSEC)
#define TRANSPORT_CHOICE_WAIT (500 * USEC_PER_MSEC) // the longest, unless the round trip is longer

enum { TRANSPORT_CHOICE_TEXT = 512 };

struct transport_choice {
    struct transport_list left; // the best first
    bool single;                // there never was a choice
    usec_t asked;               // the one that is tried now
    usec_t until;               // of all; 0: not begun
    char why[TRANSPORT_CHOICE_TEXT];
};

void transport_choice_init(struct transport_choice *c, const struct transport_list *list);
// This one is not to be had, `why`: an English sentence without a full stop. Anything else may
// remain.
void transport_choice_rule_out(struct transport_choice *c, const char *name, const char *why);
// The server gives `name`, of those that are left: it has none that stand before. Returns when the
// server must be heard at the latest; USEC_NEVER: there is nothing else left.
usec_t transport_choice_given(struct transport_choice *c, const char *name, usec_t rtt, usec_t now);
// The server was heard over the one that is left first.
void transport_choice_heard(struct transport_choice *c, usec_t now);
// Why this one: for people; empty when there was no choice.
const char *transport_choice_why(const struct transport_choice *c);

#ifdef __cplusplus
}
#endif
#endif
