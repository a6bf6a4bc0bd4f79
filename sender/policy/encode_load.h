// SPDX-License-Identifier: GPL-2.0-or-later
// Decides how much of live pictures is encoded by a machine that does not keep up. Pure.
//
//   The law.
//     - The machine does not keep up with a size if, of a second of its frames, fewer than
//       ENCODE_LOAD_KEPT come, or none comes within ENCODE_LOAD_LATE of the time at which its
//       picture was due. A queue whose minimum stands does not empty (CoDel, RFC 8289, 3); a
//       machine that stops for 80 ms and then catches up keeps up.
//     - Then it goes one step down: at once if it is down already or less than half of the frames
//       came, else after a second such second. A step halves the frame rates, as long as
//       ENCODE_LOAD_RATE remains; then it leaves out the largest size; of the smallest size the
//       rate is halved down to ENCODE_LOAD_LEAST_RATE. A step that changes nothing for the sizes
//       that have viewers is passed over. So of several viewers the one that costs most gets less.
//     - It goes one step up after ENCODE_LOAD_PATIENCE in which it kept up, most frames came
//       promptly (a frame that waits for a processor does not), and each encoder was busy for so
//       little time that the larger step would keep it busy for ENCODE_LOAD_BUSY at most.
//     - If it does not keep up within ENCODE_LOAD_TRIAL after that, the next step up to there waits
//       twice as long, up to ENCODE_LOAD_MAX_PATIENCE.
//
// Frame rates are halved by whole temporal layers: of the frames of a size, every second, fourth or
// eighth by index.
#ifndef WEIR_SENDER_POLICY_ENCODE_LOAD_H
#define WEIR_SENDER_POLICY_ENCODE_LOAD_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define ENCODE_LOAD_WINDOW       USEC_PER_SEC
#define ENCODE_LOAD_LATE         (100 * USEC_PER_MSEC) // or two frame intervals, if that is longer
#define ENCODE_LOAD_PROMPT       (20 * USEC_PER_MSEC)  // max time that a prompt frame waits
#define ENCODE_LOAD_PATIENCE     (3 * USEC_PER_SEC)
#define ENCODE_LOAD_MAX_PATIENCE (96 * USEC_PER_SEC)
#define ENCODE_LOAD_TRIAL        (5 * USEC_PER_SEC)
#define ENCODE_LOAD_KEPT         0.8
#define ENCODE_LOAD_BUSY         0.7
#define ENCODE_LOAD_RATE         12 // frames a second
#define ENCODE_LOAD_LEAST_RATE   6

enum { ENCODE_LOAD_STEPS = 24 };

struct encode_load_step {
    int halvings;   // of frame rates
    int top;        // the largest size that is encoded
    int least_rate; // frames a second that remain after halving
};

struct encode_load_window { // of the frames of one size
    bool watched;
    bool begun;
    usec_t begun_at; // the first frame came, which is not counted
    int frames;
    int prompt; // of these
    usec_t least_late;
    usec_t busy;
    bool has_time; // the last window that ended since the last step allows a step up
};

struct encode_load {
    const struct ladder *ladder; // borrowed
    int step_count;
    struct encode_load_step steps[ENCODE_LOAD_STEPS]; // [0]: everything
    struct encode_load_window windows[LADDER_MAX_SIZES];
    int step;
    int warnings;         // windows in a row in which it did not keep up
    usec_t has_time_from; // USEC_NEVER: there is no time
    usec_t patience;      // time until a step up
    usec_t tried_at;      // time of a step up that is not judged yet; USEC_NEVER: there is none
    int tried;            // the step that it led to
    int failed;           // the step of the last one that failed
};

struct encode_load_frame {
    int size_id;
    usec_t late; // from the time at which its picture was due until it came from the encoder
    usec_t took; // to encode
};

// Begins with everything. Sizes of a cumulative ladder come from one encoder, so none is left out.
void encode_load_init(struct encode_load *l, const struct ladder *ladder);
// The size has its first viewer, or no viewer any more.
void encode_load_watch(struct encode_load *l, int size_id, bool watched);
// A frame came from the encoder. Returns true if the step has changed.
bool encode_load_came(struct encode_load *l, const struct encode_load_frame *f, usec_t now);
// Returns n: every n-th frame of the size is encoded, by its index in the size.
int encode_load_every(const struct encode_load *l, int size_id);
// Returns the largest size that is encoded.
int encode_load_top(const struct encode_load *l);
// Returns how many steps are gone down; 0: everything is encoded.
int encode_load_steps(const struct encode_load *l);

DECLS_END
#endif
