// SPDX-License-Identifier: GPL-2.0-or-later
// Where in a file the viewer is, and how a seek proceeds: the viewer requests a place, the server
// answers PLAY with the frame that belongs to it, and the seek ends when that frame is shown. The
// key frame before it may be shown until then. What is buffered plays on until the server has
// answered. One object a connection. Pure.
//
// To the server a seek ends a pause, to the viewer it does not: the one frame is shown, and the
// server is paused again when SEEK_PAUSE_BUFFER of media is there to resume with.
#ifndef WEIR_PLAYER_POLICY_SEEK_H
#define WEIR_PLAYER_POLICY_SEEK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define SEEK_PAUSE_BUFFER USEC_PER_SEC
#define SEEK_TOLERANCE    0.5 // seconds between the requested place and the server's
#define SEEK_EARLY        3.0 // seconds: audio may be longer than video, so an end is not exact
#define SEEK_PROGRESS     1.0 // min seconds of media of a connection whose end is checked

// Times in the media are seconds, NaN: not known. Frames count at `frame_rate`.
struct seek {
    bool possible;     // true if the media is a file in which the viewer may seek
    double frame_rate; // frames a second
    double duration;   // of the file
    bool known;        // frame `number` is at `seconds`
    int64_t number;
    double seconds;
    int64_t first;  // PLACED: the first frame that is sent, which may be shown before `number`
    bool previewed; // PLACED: such a frame was shown
    int64_t shown;  // the newest frame shown
    enum { SEEK_IDLE, SEEK_REQUESTED, SEEK_PLACED } phase; // PLACED: its frame was not shown yet
    double to;                                             // REQUESTED, PLACED: the requested place
    usec_t requested;                                      // REQUESTED, PLACED: when
    bool pause_due; // true if the viewer has paused but the server still sends
    // Fast forward and rewind (RFC 2326, 12.34). Frames count at `frame_rate` at any scale; on
    // rewind the place in the film descends as they ascend.
    double scale;        // of the media that the place above is of
    double wanted_scale; // that the viewer chose
    bool scales;         // the seek in progress is a change of the scale
    int scale_refusals;  // how often the server played on at another scale than the chosen one
};

// The response to PLAY.
struct seek_place {
    double seconds; // NaN: not given
    int64_t first;  // the first frame that is sent; -1: not given
    int64_t show;   // the frame at `seconds`; -1: not given
    bool sought;    // true if it is the response to a seek
    bool paused;    // true if the server was paused before
    double scale;
    int64_t awaited; // the frame that is shown next; -1: playing has not begun
};

enum seek_request { SEEK_IMPOSSIBLE, SEEK_PLACE_UNKNOWN, SEEK_WANTED };
enum seek_answer {
    SEEK_NOT_PLACED, // the place is not known; if it was `sought`, the seek is over
    SEEK_CONTINUES,  // playback continues with the frames that follow
    SEEK_JUMPS,      // playback continues at frame `show`
};

void seek_init(struct seek *s, bool possible, double frame_rate, double duration);

// Returns the position of the picture on the screen in seconds; NaN: not a file, or unknown.
double seek_position(const struct seek *s);
// Returns the start of a relative step: the target of the preceding step if several steps follow
// each other.
double seek_base(const struct seek *s);
// Returns true if the media ends before the file does. `arrived`: the newest frame. Not if the
// connection brought next to nothing: then the file is shorter than its description says.
bool seek_is_early(const struct seek *s, int64_t arrived);

// The viewer seeks. SEEK_WANTED: request `to` from the server.
enum seek_request seek_to(struct seek *s, double seconds, usec_t now);
// The viewer changes the scale, and so seeks to where the picture is. SEEK_WANTED: request `to` and
// `wanted_scale` from the server.
enum seek_request seek_scale(struct seek *s, double scale, usec_t now);
// Returns the scale that is `steps` above (below: < 0) the chosen one, of -8, -4, -2, 1, 2, 4, 8.
double seek_scale_by(const struct seek *s, int steps);
// PLAY was answered. `arrived`: number of the newest frame, -1: none.
enum seek_answer seek_placed(struct seek *s, const struct seek_place *place, int64_t arrived);
void seek_refused(struct seek *s);
// A connection that was being made when the viewer sought plays now. Returns true if PLAY did not
// begin at that position: request it.
bool seek_again(struct seek *s);
// A frame was shown. Returns true if it is the first one that a seek brought; *wait is the time
// since the viewer requested it.
bool seek_shown(struct seek *s, int64_t number, usec_t shown_at, bool paused, usec_t *wait);
// The viewer steps in a pause: the server is resumed, and is paused again as after a seek.
void seek_step(struct seek *s);
// Call periodically. `buffered`: media that waits to be shown. Returns true if the server should be
// paused now.
bool seek_must_pause(struct seek *s, bool paused, usec_t buffered);

DECLS_END
#endif
