// SPDX-License-Identifier: GPL-2.0-or-later
// From one connection of a viewing to the next: after a loss, or because the viewer chose another
// transport. While there is no connection the received media is still shown.
//
//   OPENING -> PLAYING -> LOST_WAITING <-> LOST_CONNECTING -> PLAYING
//                     \-> CHANGING_WAITING -> CHANGING_CONNECTING -> PLAYING
//                                                  | the server refuses the transport
//                                                  v
//              LOST_WAITING <- REVERTING_CONNECTING <- REVERTING_WAITING
//
// In any state the viewer may choose another channel, or stop. A channel that cannot be opened
// stops, too; what stopped waits for the next choice:
//
//   any -> SELECTING -> TUNING -> PLAYING
//   any -> STOPPED <------/
//
// Every attempt begins at the timer's event, so it never begins inside a callback of the connection
// that it replaces. Unless it is for a channel, an attempt waits until the viewer resumes, if he
// has paused; an attempt for stored media also waits until all received media was shown, as it
// continues from there.
//
// After a loss the first attempt follows in 0.5 s, then RECONNECT_QUICK more, each 1 s after the
// failed one, then 2, 4, 8, 15, 15 ... s. The viewer may ask for an attempt at once. A loss within
// RECONNECT_STEADY of playing continues that series, so a server that fails at once is not flooded
// with requests. Pure.
#ifndef WEIR_PLAYER_POLICY_RECONNECT_H
#define WEIR_PLAYER_POLICY_RECONNECT_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define RECONNECT_FIRST (500 * USEC_PER_MSEC)
enum { RECONNECT_QUICK = 15 };
#define RECONNECT_MAX    (15 * USEC_PER_SEC)
#define RECONNECT_STEADY (5 * USEC_PER_SEC)

enum reconnect_state {
    RECONNECT_OPENING,              // the first connection; nothing has played yet
    RECONNECT_PLAYING,              // media plays, or was received to its end
    RECONNECT_LOST_WAITING,         // the server was lost
    RECONNECT_LOST_CONNECTING,      // an attempt to connect to it is under way
    RECONNECT_CHANGING_WAITING,     // the viewer chose another transport; this session is left
    RECONNECT_CHANGING_CONNECTING,  // an attempt with the chosen transport is under way
    RECONNECT_REVERTING_WAITING,    // the server refused the chosen transport
    RECONNECT_REVERTING_CONNECTING, // an attempt with the previous transports is under way
    RECONNECT_SELECTING,            // the viewer chose a channel: an attempt is due
    RECONNECT_TUNING,               // an attempt to play that channel is under way
    RECONNECT_STOPPED,              // by the viewer, or the channel could not be opened
    RECONNECT_STATES
};

enum reconnect_event {
    RECONNECT_LOST,      // the newest connection was refused or lost, or ended before its media
    RECONNECT_CHANGE,    // the viewer chooses another transport
    RECONNECT_LEFT,      // the server has answered TEARDOWN, or there is none to wait for
    RECONNECT_TIMER,     // reconnect.next has come
    RECONNECT_DRAINED,   // all received pictures were shown
    RECONNECT_RESUMED,   // the viewer ends a pause
    RECONNECT_DESCRIBED, // the attempt replaces the connection before it, and drops its media
    RECONNECT_PLAYED,    // PLAY was answered: the attempt has succeeded
    RECONNECT_STARTED,   // pictures move
    RECONNECT_SELECT,    // the viewer chooses a channel, which may be the present one
    RECONNECT_STOP,      // the viewer stops
    RECONNECT_HURRY,     // the viewer asks for the next attempt at once
    RECONNECT_EVENTS
};

enum reconnect_action {
    RECONNECT_NOTHING,
    RECONNECT_WAIT,    // set the timer to reconnect.next
    RECONNECT_CONNECT, // begin an attempt
    RECONNECT_LEAVE,   // send TEARDOWN; RECONNECT_LEFT follows
    RECONNECT_REVERT,  // use the transports from before the change; set the timer
    RECONNECT_END,     // no connection follows
    RECONNECT_SWITCH,  // end the media at once; set the timer to reconnect.next
    RECONNECT_HALT,    // end the media at once
    RECONNECT_FAIL,    // the channel cannot be opened
};

// What the viewer sees while there is no connection.
enum reconnect_picture {
    RECONNECT_MOVING,  // received media
    RECONNECT_STALLED, // a still picture because of a loss: a stall
    RECONNECT_HALTED,  // a still picture because of the viewer's own choice: a pause
};

// The facts that an event is judged by.
struct reconnect_facts {
    bool paused;   // by the viewer
    bool stored;   // the media is a file
    bool pictures; // of the connection shown: it has pictures
};

struct reconnect {
    enum reconnect_state state;
    enum reconnect_picture picture;
    bool allowed;  // after a loss
    int tries;     // of the series, the next one included; 0: none
    usec_t next;   // the next attempt is due; USEC_NEVER: not known
    usec_t since;  // the connection was lost or left
    usec_t played; // media plays since then; USEC_NEVER: it does not
};

// `allowed`: a lost server is connected to again. `tunes`: the first connection is to a channel; if
// it fails, the viewer may choose another.
void reconnect_init(struct reconnect *r, bool allowed, bool tunes);
enum reconnect_action reconnect_on(struct reconnect *r, enum reconnect_event event,
                                   const struct reconnect_facts *facts, usec_t now);
// PLAY was answered but no media came: the connection does not count as having played.
void reconnect_idle(struct reconnect *r);

// Returns true if there is no connection that plays, after there was one.
bool reconnect_is_away(const struct reconnect *r);
// Returns true if that is because of a loss, not because of the viewer's choice.
bool reconnect_is_lost(const struct reconnect *r);
// Time to the next attempt; 0 when it is due.
usec_t reconnect_remaining(const struct reconnect *r, usec_t now);

DECLS_END
#endif
