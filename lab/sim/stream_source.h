// SPDX-License-Identifier: GPL-2.0-or-later
// Synthetic media for one simulated viewer: a media_feed whose frames come of the sizes that are
// watched, until the media ends.
//
//   Live  what sender/feed/synthetic_media.h is to the program: frames come at their times, and
//         each is a key frame.
//   Film  what server/stored/stored_feed.h is: frames wait for the network and for the speed, up to
//         STREAM_FILM_LEAD early, at twice the pace until then; what the viewer lacks is given
//         again; each group of STREAM_FILM_GROUP begins with the only key frame.
#ifndef WEIR_SIM_STREAM_SOURCE_H
#define WEIR_SIM_STREAM_SOURCE_H

#include "common/base/decls.h"
#include "lab/sim/frame_sizes.h"
#include "media/coded/synthetic.h"
#include "server/policy/frame_clock.h"
#include "stream/send/media_feed.h"

DECLS_BEGIN

#define STREAM_FILM_GROUP     (2 * USEC_PER_SEC)
#define STREAM_FILM_LEAD      (2 * USEC_PER_SEC)
#define STREAM_FILM_MAX_SPEED 100.0

struct stream_source_config {
    bool film;
    const struct synthetic *media;   // borrowed
    const struct frame_sizes *sizes; // of its frames; borrowed; NULL: all frames have one size
    usec_t length;                   // of the media
    usec_t wall;                     // wall clock at time 0
    void (*on_frame)(void *ctx, struct coded_frame *f, usec_t now); // borrowed for the call
    // A film's: the viewer lacks the frame; and, returns true if a frame waits for the network.
    void (*on_again)(void *ctx, struct coded_frame *f, usec_t now);
    bool (*waits)(void *ctx);
    void *ctx; // borrowed
};

struct film_clock { // frame `begin` is due at `origin`; it was sent from `start` on
    int64_t at;     // the next frame
    int64_t begin;
    double origin, start; // us
    double speed;
    bool awaits_room;
};

struct stream_source {
    struct media_feed feed; // first
    struct stream_source_config config;
    struct frame_clock clock; // of live media
    struct film_clock film;
    int watchers[LADDER_MAX_SIZES];
    bool started, over;
};

void stream_source_init(struct stream_source *s, const struct stream_source_config *config);
void stream_source_start(struct stream_source *s, usec_t now); // starts: frame 0 is due
// Multiple of the media's own pace: FRAME_CLOCK_MIN_SPEED .. FRAME_CLOCK_MAX_SPEED, of a film up to
// STREAM_FILM_MAX_SPEED.
void stream_source_set_speed(struct stream_source *s, double speed, usec_t now);
void stream_source_end(struct stream_source *s);
// Emits the frames that are due.
void stream_source_run(struct stream_source *s, usec_t now);
// Returns when the next frame is due; USEC_NEVER: none, as it has not started or has ended.
usec_t stream_source_next(const struct stream_source *s);

DECLS_END
#endif
