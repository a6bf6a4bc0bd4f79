// SPDX-License-Identifier: GPL-2.0-or-later
// When to try a lost server again: 0.5 s after the loss, then 1, 2, 4, 8, 15, 15 ... s after each
// attempt that failed. A server that was lost again before its media had played for
// RECONNECT_STEADY is tried on from where the row stood, so that one that falls over at once is not
// pressed.
#ifndef WEIR_PLAYER_POLICY_RECONNECT_H
#define WEIR_PLAYER_POLICY_RECONNECT_H

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RECONNECT_FIRST  (500 * USEC_PER_MSEC)
#define RECONNECT_MOST   (15 * USEC_PER_SEC)
#define RECONNECT_STEADY (5 * USEC_PER_SEC)

struct reconnect {
    int tries;     // of the row, the next one included; 0: nothing was lost
    usec_t next;   // when it is due
    usec_t played; // since when media plays again; USEC_NEVER: it does not
};

void reconnect_init(struct reconnect *r);
// The server was lost, or an attempt failed: when the next one is due.
usec_t reconnect_lost(struct reconnect *r, usec_t now);
void reconnect_playing(struct reconnect *r, usec_t now); // media plays again
// It was to play, but nothing came: that does not count as playing.
void reconnect_idle(struct reconnect *r);
// To the next attempt; 0 when it is due.
usec_t reconnect_left(const struct reconnect *r, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
