// SPDX-License-Identifier: GPL-2.0-or-later
// What the Goddard client watches of the stream: the share of frames lost lately and since the last
// decision, and the throughput lately.
//
// "Lately" is a window of `interval` in LOSS_WINDOW_BINS bins; it begins with the bin that
// `interval` less one bin ago falls into, so it is never longer than `interval`. A decision empties
// the counts of frames, not those of bytes: loss is judged on what came after it (the paper's
// section III: "at least loss_monitor_interval since the last scale adjustment decision"),
// throughput on the whole previous interval.
#ifndef WEIR_STREAM_GODDARD_LOSS_WINDOW_H
#define WEIR_STREAM_GODDARD_LOSS_WINDOW_H

#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LOSS_WINDOW_BINS = 50 };

// Since the last report; each frame counts once.
struct goddard_frames {
    int received;  // whole, in time
    int lost;      // expected, never whole
    int late;      // whole, but after their time: the viewer has them as little as lost ones
    int64_t bytes; // that arrived, also of frames that are not whole
};

struct loss_window_bin {
    int64_t id; // time since `begun` / width; what stands in an older one is out of date
    int64_t frames;
    int64_t missed;
    int64_t bytes;
};

struct loss_window {
    usec_t width; // of a bin
    usec_t begun; // USEC_NEVER before the first report
    int64_t frames;
    int64_t missed; // since the last decision
    struct loss_window_bin bins[LOSS_WINDOW_BINS];
};

void loss_window_init(struct loss_window *m, usec_t interval);
void loss_window_add(struct loss_window *m, const struct goddard_frames *f, usec_t now);
void loss_window_decided(struct loss_window *m);

// Fractions of the frames; NaN without frames.
double loss_window_loss_lately(const struct loss_window *m, usec_t now);
double loss_window_loss_since_decision(const struct loss_window *m);
// Bits a second over the window, or since the first report if that is less; 0 before it.
double loss_window_throughput(const struct loss_window *m, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
