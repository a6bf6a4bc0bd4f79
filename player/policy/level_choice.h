// SPDX-License-Identifier: GPL-2.0-or-later
// Which level of the ladder a connection plays, which one was requested last, and why a level
// changes: because it was requested, or by the
// sender, as the network or its machine is too slow. Pure.
#ifndef WEIR_PLAYER_POLICY_LEVEL_CHOICE_H
#define WEIR_PLAYER_POLICY_LEVEL_CHOICE_H

#include "common/base/decls.h"
#include "common/base/level.h"

DECLS_BEGIN

struct level_choice {
    int level;          // level of the received frames; -1: unknown
    int requested;      // the last requested level, or the received one
    const char *reason; // reason for the request, static; NULL: no request is pending
    // Reasons of the requests that later ones replaced before anything of them arrived; by level.
    const char *replaced[LADDER_MAX_LEVELS];
};

struct level_start {
    int top;     // the ladder's highest level
    int wanted;  // requested by the user; -1: the server selects
    bool policy; // the player's policy chooses the level, unless the user did
    bool again;  // the connection follows another one
    int before;  // `again`: the level that played
};

struct level_switch { // for QoE and trace
    int from, to;
    const char *reason;
};

// Returns the initial level of PLAY, if known. After another connection it is that connection's
// level, so that a level that the outage did not change is not reported as a change.
void level_choice_begin(struct level_choice *c, const struct level_start *s);
// The client requested `level` from the server, for `reason` (static).
void level_choice_request(struct level_choice *c, int level, const char *reason);
void level_choice_refused(struct level_choice *c); // The server changed the level.
// A frame of `level` arrived. Returns true if the level changed.
// `otherwise`: the reason if it was not requested, static.
bool level_choice_arrived(struct level_choice *c, int level, const char *otherwise,
                          struct level_switch *out);

DECLS_END
#endif
