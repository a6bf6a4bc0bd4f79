// SPDX-License-Identifier: GPL-2.0-or-later
// What is told over the picture while it does not move: what goes on, and why. The picture stays,
// dimmed, behind it.
#ifndef WEIR_PLAYER_NOTICE_H
#define WEIR_PLAYER_NOTICE_H

#include <stdbool.h>

#include "common/base/usec.h"
#include "player/cause.h"
#include "player/playout.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NOTICE_TEXT = 96, NOTICE_CAUSE = 200 };

struct notice {
    char text[NOTICE_TEXT]; // empty: the picture moves
    char cause[NOTICE_CAUSE];
    double done; // 0 .. 1 of what is waited for; NaN: not known
};

enum notice_link { LINK_CONNECTING, LINK_PLAYING, LINK_LOST, LINK_TRYING, LINK_CHANGING };

struct notice_facts {
    enum notice_link link;
    const char *host;  // LINK_CONNECTING
    const char *why;   // LINK_LOST, LINK_TRYING
    const char *other; // LINK_CHANGING: the transport to come
    int tries;
    usec_t next;    // LINK_LOST: until the next attempt, which waits for who has paused
    bool moves;     // not LINK_PLAYING: what had come is still shown
    bool described; // pictures are awaited, or there
    bool paused;
    enum playout_mode mode;
    usec_t held;
    usec_t goal;    // of what is held, for playing to begin or go on
    usec_t silence; // since the last packet; -1: none yet
    enum stall_cause cause;
};

#define NOTICE_SILENCE USEC_PER_SEC // a shorter one is no news

void notice_make(const struct notice_facts *f, struct notice *out);
// The viewing is over. `error`: NULL: the media's end.
void notice_ended(const char *error, struct notice *out);

#ifdef __cplusplus
}
#endif
#endif
