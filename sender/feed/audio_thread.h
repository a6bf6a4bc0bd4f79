// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and encodes the audio of each picture's time on a thread of its own. Unless the audio is
// captured, it also reads a little ahead, so that a viewer has a picture's audio when the picture
// arrives. A queue holds about a second of pictures; the audio of further pictures is dropped,
// which causes an audible gap.
#ifndef WEIR_SENDER_FEED_AUDIO_THREAD_H
#define WEIR_SENDER_FEED_AUDIO_THREAD_H

#include "common/base/decls.h"
#include "media/coded/coded_audio.h"
#include "media/picture/picture.h"
#include "media/source/audio_source.h"
#include "server/stats/live_feed_stats.h"

DECLS_BEGIN

struct audio_thread;

struct audio_thread_events {
    // Called on the thread for each packet; the callee takes over the reference.
    void (*on_audio)(void *ctx, struct coded_audio *c);
    // Called on the thread after the last packet of one picture's audio.
    void (*on_done)(void *ctx);
};

// Takes over `source`, even on failure. `track`: of its packets. Returns NULL on failure, which it
// logs.
struct audio_thread *audio_thread_new(struct audio_source *source, int track, struct fps fps,
                                      int bitrate_bps, const struct audio_thread_events *events,
                                      void *ctx);
void audio_thread_free(struct audio_thread *t); // stops and joins; NULL is fine
// Encodes the audio of the time that `p` is shown. `captured`: when `p` was captured, on the
// monotonic clock. Returns false if the queue is full and the audio is dropped.
bool audio_thread_push(struct audio_thread *t, const struct picture *p, usec_t captured);
void audio_thread_stats(struct audio_thread *t, struct live_feed_audio_stats *out);

DECLS_END
#endif
