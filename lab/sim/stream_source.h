// SPDX-License-Identifier: GPL-2.0-or-later
// Synthetic media at its times, for one simulated viewer: what sender/feed/synthetic_media.h is to
// the program. A media_feed: frames come of the sizes that are watched, until the media ends.
#ifndef WEIR_SIM_STREAM_SOURCE_H
#define WEIR_SIM_STREAM_SOURCE_H

#include "lab/sim/frame_sizes.h"
#include "media/coded/synthetic.h"
#include "server/policy/frame_clock.h"
#include "stream/send/media_feed.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stream_source_config {
    const struct synthetic *media;   // borrowed
    const struct frame_sizes *sizes; // of its frames; borrowed; NULL: all frames have one size
    usec_t length;                   // of the media
    usec_t wall;                     // wall clock at time 0
    void (*on_frame)(void *ctx, struct coded_frame *f, usec_t now); // borrowed for the call
    void *ctx;                                                      // borrowed
};

struct stream_source {
    struct media_feed feed; // first
    struct stream_source_config config;
    struct frame_clock clock;
    int watchers[LADDER_MAX_SIZES];
    bool started, over;
};

void stream_source_init(struct stream_source *s, const struct stream_source_config *config);
void stream_source_start(struct stream_source *s, usec_t now); // starts: frame 0 is due
// FRAME_CLOCK_MIN_SPEED .. FRAME_CLOCK_MAX_SPEED, multiple of the media's own pace
void stream_source_set_speed(struct stream_source *s, double speed);
void stream_source_end(struct stream_source *s);
// Emits the frames that are due.
void stream_source_run(struct stream_source *s, usec_t now);
// Returns when the next frame is due; USEC_NEVER: none, as it has not started or has ended.
usec_t stream_source_next(const struct stream_source *s);

#ifdef __cplusplus
}
#endif
#endif
