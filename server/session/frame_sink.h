// SPDX-License-Identifier: GPL-2.0-or-later
// The consumer of a stream's coded media: one sink per viewer. Loop thread only.
#ifndef WEIR_SERVER_SESSION_FRAME_SINK_H
#define WEIR_SERVER_SESSION_FRAME_SINK_H

#include <stdbool.h>

#include "common/base/usec.h"
#include "media/coded/coded_audio.h"
#include "media/coded/coded_frame.h"
#include "server/stats/stats.h"

struct frame_sink;

struct frame_sink_ops {
    // Frames and packets are borrowed for the call: a sink that keeps one takes a reference.
    void (*on_frame)(struct frame_sink *sink, struct coded_frame *f, usec_t now);
    // Delivers a frame again that the sink has requested (media_feed.h).
    void (*on_again)(struct frame_sink *sink, struct coded_frame *f, usec_t now);
    void (*on_audio)(struct frame_sink *sink, struct coded_audio *c, usec_t now);
    // The media has ended. `why`: it broke off before its end, and why, for people; NULL: it did
    // not.
    void (*on_end)(struct frame_sink *sink, const char *why, usec_t now);
    // Fills `out`; returns the index of the sink's transport (transport.h).
    int (*stats)(struct frame_sink *sink, struct session_stats *out, usec_t now);
    // The feed's `place` can be called again: it returned MEDIA_WAITS.
    void (*on_placed)(struct frame_sink *sink, usec_t now);
    // Of relayed media: so many packets before the next frame were lost upstream.
    void (*on_lost)(struct frame_sink *sink, int packets, usec_t now);
    // The stream's highest level has changed (stream_set_highest, stream_media.unencoded).
    void (*on_highest)(struct frame_sink *sink, usec_t now);
    // Returns true if frames that the sink has got wait for the network. NULL: none ever waits.
    bool (*has_waiting)(const struct frame_sink *sink);
};

struct frame_sink { // embedded first by each implementation
    const struct frame_sink_ops *ops;
    int number; // of the session (stats.h); set by stream_add
};

#endif
