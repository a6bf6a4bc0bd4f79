// SPDX-License-Identifier: GPL-2.0-or-later
// How much later than at best frames arrive. With the offset of a frame = its arrival - its media
// time, on whatever clock the sender's media time runs,
//
//     base   = min of the offsets over the last 2 to 4 s
//     delay  = offset - base
//     jitter = the quantile `part` of the delays over the last ARRIVAL_JITTER_WINDOW
//
// Fewer than ARRIVAL_JITTER_FEW delays are filled up with delays of 0. While nothing arrives the
// base is not forgotten.
//
// When the base rises, delays before it count as no more than they are above the new base.
//
// Consecutive frames that are later than the jitter (and ARRIVAL_JITTER_MARGIN) are one excursion.
// It counts as at most ARRIVAL_JITTER_EXCURSION frames, until it has lasted for
// ARRIVAL_JITTER_LASTING without a new low (by that margin). So a single queue that builds up and
// drains does not increase the wait for the seconds after it, when no frame is late any more;
// frequent ones do, and so does a queue that stands.
//
// Bound: ARRIVAL_JITTER_FRAMES delays, 5 s at 100 frames/s. Pure.
#ifndef WEIR_STREAM_LATENCY_ARRIVAL_JITTER_H
#define WEIR_STREAM_LATENCY_ARRIVAL_JITTER_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/windowed_min.h"

DECLS_BEGIN

enum { ARRIVAL_JITTER_FRAMES = 512, ARRIVAL_JITTER_FEW = 64, ARRIVAL_JITTER_EXCURSION = 3 };
#define ARRIVAL_JITTER_PART    0.9 // until it is set
#define ARRIVAL_JITTER_WINDOW  (5 * USEC_PER_SEC)
#define ARRIVAL_JITTER_BASE    (2 * USEC_PER_SEC)
#define ARRIVAL_JITTER_SILENCE (500 * USEC_PER_MSEC)
#define ARRIVAL_JITTER_MARGIN  (5 * USEC_PER_MSEC)
#define ARRIVAL_JITTER_LASTING USEC_PER_SEC

struct arrival_jitter { // arrival_jitter.c alone reads and writes the fields
    struct windowed_min base;
    double part;
    usec_t arrived; // the last frame
    struct {
        usec_t at;
        usec_t offset;
        usec_t delay;
    } delays[ARRIVAL_JITTER_FRAMES]; // a ring
    int next, count;
    usec_t value;     // as read last
    int run;          // frames of the excursion so far; 0: there is none
    usec_t run_low;   // its lowest delay
    usec_t run_since; // when that was
};

void arrival_jitter_init(struct arrival_jitter *j);
void arrival_jitter_set_part(struct arrival_jitter *j, double part);
// The media is of another time line: the base is not known.
void arrival_jitter_restart(struct arrival_jitter *j);
void arrival_jitter_base_add(struct arrival_jitter *j, usec_t offset, usec_t now);
// The same, and the delay is a sample of the jitter.
void arrival_jitter_add(struct arrival_jitter *j, usec_t offset, usec_t now);
usec_t arrival_jitter_base(const struct arrival_jitter *j);       // USEC_NEVER: not known
usec_t arrival_jitter_read(struct arrival_jitter *j, usec_t now); // 0: no sample

DECLS_END
#endif
