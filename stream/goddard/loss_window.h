// SPDX-License-Identifier: GPL-2.0-or-later
// The Goddard client's measurements of the stream: the fraction of frames lost recently and since
// the last decision, and the recent throughput.
//
// "Recent" is a window of `interval`, divided into LOSS_WINDOW_BINS bins. It begins with the bin
// that contains the time (`interval` - one bin) ago, so it is never longer than `interval`. A
// decision resets the counts of frames but not those of bytes: loss is judged on frames after the
// decision (the paper's section III: "at least loss_monitor_interval since the last scale
// adjustment decision"), throughput on the whole previous interval.
#ifndef WEIR_STREAM_GODDARD_LOSS_WINDOW_H
#define WEIR_STREAM_GODDARD_LOSS_WINDOW_H

#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { LOSS_WINDOW_BINS = 50 };

// Counts since the last report; each frame counts once.
struct goddard_frames {
    int received;  // frames that were whole in time
    int lost;      // expected frames that never became whole
    int late;      // frames that were whole after their playout time; useless to the viewer, like
                   // lost ones
    int64_t bytes; // bytes that arrived, those of incomplete frames included
};

struct loss_window_bin {
    int64_t id; // time since `begun` / width; a bin with an older id is out of date
    int64_t frames;
    int64_t missed;
    int64_t bytes;
};

struct loss_window {
    usec_t width; // duration of a bin
    usec_t begun; // time of the first report; USEC_NEVER: none yet
    int64_t frames;
    int64_t missed; // since the last decision
    struct loss_window_bin bins[LOSS_WINDOW_BINS];
};

void loss_window_init(struct loss_window *m, usec_t interval);
void loss_window_add(struct loss_window *m, const struct goddard_frames *f, usec_t now);
void loss_window_decided(struct loss_window *m);

// Fractions of the frames, 0 .. 1; NaN without frames.
double loss_window_loss_lately(const struct loss_window *m, usec_t now);
double loss_window_loss_since_decision(const struct loss_window *m);
// Bit/s over the window, or since the first report if that is shorter; 0 before the first report.
double loss_window_throughput(const struct loss_window *m, usec_t now);

DECLS_END
#endif
