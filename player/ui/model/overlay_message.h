// SPDX-License-Identifier: GPL-2.0-or-later
// What is told over the picture while it does not move: what goes on, and why. The picture stays,
// dimmed, behind it.
#ifndef WEIR_PLAYER_UI_MODEL_OVERLAY_MESSAGE_H
#define WEIR_PLAYER_UI_MODEL_OVERLAY_MESSAGE_H

#include <stdbool.h>

#include "common/base/usec.h"
#include "stream/outcome/cause.h"
#include "stream/playout/playout.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { OVERLAY_MESSAGE_TEXT = 96, OVERLAY_MESSAGE_CAUSE = 200 };

struct overlay_message {
    char text[OVERLAY_MESSAGE_TEXT]; // empty: the picture moves
    char cause[OVERLAY_MESSAGE_CAUSE];
    double done; // 0 .. 1 of what is waited for; NaN: not known
};

enum overlay_message_link { LINK_CONNECTING, LINK_PLAYING, LINK_LOST, LINK_TRYING, LINK_CHANGING };

struct overlay_message_facts {
    enum overlay_message_link link;
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

#define OVERLAY_MESSAGE_SILENCE USEC_PER_SEC // a shorter one is no news

void overlay_message_make(const struct overlay_message_facts *f, struct overlay_message *out);
// The viewing is over. `error`: NULL: the media's end.
void overlay_message_ended(const char *error, struct overlay_message *out);

#ifdef __cplusplus
}
#endif
#endif
