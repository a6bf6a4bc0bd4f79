// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and encodes the sound of each picture's time, on a thread of its own; and of a little more,
// unless it is captured: so a viewer has the sound of a picture when the picture comes. A second's
// worth of pictures may wait; what comes on top is left out, and heard as a gap.
#ifndef WEIR_SENDER_FEED_AUDIO_THREAD_H
#define WEIR_SENDER_FEED_AUDIO_THREAD_H

#include "media/coded/coded_audio.h"
#include "media/picture/picture.h"
#include "media/source/audio_source.h"
#include "sender/stats/live_feed_stats.h"

#ifdef __cplusplus
extern "C" {
#endif

struct audio_thread;

struct audio_thread_events {
    // Both on the thread. A packet, with one reference.
    void (*on_audio)(void *ctx, struct coded_audio *c);
    void (*on_done)(void *ctx); // all of one picture's sound was given
};

// Takes over `source`. NULL: logged.
struct audio_thread *audio_thread_new(struct audio_source *source, struct fps fps, int bitrate_bps,
                                      const struct audio_thread_events *events, void *ctx);
void audio_thread_free(struct audio_thread *t); // stops and joins; NULL is fine
// The sound of the time that `p`, captured at this instant, stands. False: left out.
bool audio_thread_push(struct audio_thread *t, const struct picture *p, usec_t captured);
void audio_thread_stats(struct audio_thread *t, struct live_feed_audio_stats *out);

#ifdef __cplusplus
}
#endif
#endif
