// SPDX-License-Identifier: GPL-2.0-or-later
// How far behind the present the viewer of live media is, and how a step back or on proceeds: the
// viewer requests a distance from the present, the server answers PLAY with the distance of the
// frame at which it begins, and the step ends when that frame is shown. Until then further steps
// count from the requested distance. One object a connection. Pure.
#ifndef WEIR_PLAYER_POLICY_REWIND_H
#define WEIR_PLAYER_POLICY_REWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define REWIND_PRESENT 1.0 // a distance below this is the present

// Distances are in seconds.
struct rewind {
    double kept;   // how far the server goes back at most; 0: not at all
    double behind; // of what arrives
    enum { REWIND_IDLE, REWIND_REQUESTED, REWIND_PLACED } phase;
    double to;        // REQUESTED, PLACED: the requested distance
    usec_t requested; // REQUESTED, PLACED: when
    int64_t first;    // PLACED: the first frame of the place
};

// The response to PLAY.
struct rewind_place {
    double kept;
    double behind;
    int64_t first; // the first frame that is sent; -1: frames continue
    bool sought;   // it is the response to a request for a distance
};

enum rewind_request {
    REWIND_IMPOSSIBLE, // the server keeps no past
    REWIND_AT_LIMIT,   // it is there already: the oldest that is kept, or the present
    REWIND_WANTED,     // request `to` of the server
};

// The viewer wants to be so far behind the present.
enum rewind_request rewind_to(struct rewind *r, double behind, usec_t now);
// Steps by `seconds`; negative: back.
enum rewind_request rewind_by(struct rewind *r, double seconds, usec_t now);
// PLAY was answered. Returns true if playback continues at frame `first` instead of the frame after
// the newest one.
bool rewind_placed(struct rewind *r, const struct rewind_place *place);
void rewind_refused(struct rewind *r);
// A frame was shown. Returns true if it is the first of a step; *wait is the time since the viewer
// requested it.
bool rewind_shown(struct rewind *r, int64_t number, usec_t shown_at, usec_t *wait);

DECLS_END
#endif
