// SPDX-License-Identifier: GPL-2.0-or-later
// Which level of the ladder a connection plays, which one was requested last, and why a level
// changes: because it was requested, or because of the network. Pure.
#ifndef WEIR_PLAYER_POLICY_LEVEL_CHOICE_H
#define WEIR_PLAYER_POLICY_LEVEL_CHOICE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct level_choice {
    int level;          // that comes; -1: not known
    int requested;      // last, or the level that comes
    const char *reason; // for the request, static; NULL: nothing is requested that has not come
};

struct level_start {
    int top;     // the ladder's highest level
    int wanted;  // by the user; -1: the server's choice
    bool policy; // --adapt goddard chooses the level
    bool again;  // the connection follows another one
    int before;  // `again`: the level that played
};

struct level_switch { // for QoE and trace
    int from, to;
    const char *reason;
};

// The level that PLAY begins with, as far as it is known. After another connection it is the level
// from before, so that what the outage did not change is not reported as a change.
void level_choice_begin(struct level_choice *c, const struct level_start *s);
// `level` is requested from the server, for `reason` (static).
void level_choice_request(struct level_choice *c, int level, const char *reason);
void level_choice_refused(struct level_choice *c); // by the server
// Frames of `level` come. Returns true if that is a switch.
bool level_choice_arrived(struct level_choice *c, int level, struct level_switch *out);

#ifdef __cplusplus
}
#endif
#endif
