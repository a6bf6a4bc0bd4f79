// SPDX-License-Identifier: GPL-2.0-or-later
// State shared by live_feed.c, the loop's side, and live_feed_thread.c, the source thread. Private
// to these two files.
#ifndef WEIR_SENDER_FEED_LIVE_FEED_STATE_H
#define WEIR_SENDER_FEED_LIVE_FEED_STATE_H

#include <pthread.h>

#include "common/net/mailbox.h"
#include "sender/feed/audio_thread.h"
#include "sender/feed/encoder_thread.h"
#include "sender/feed/live_feed.h"

#ifdef __cplusplus
extern "C" {
#endif

// A message to the loop: a frame, an audio packet, the end of the source, or the end of the feed's
// threads.
struct live_feed_item {
    struct coded_frame *frame; // one reference, or NULL
    struct coded_audio *audio; // one reference, or NULL
    int err;                   // if neither: why the source ended
    bool gone;                 // the last item: the threads have ended
};

struct live_feed {
    pthread_t thread;
    bool started;
    bool closed;           // live_feed_free was called; loop thread only
    struct source *source; // owned; used by the source thread
    struct ladder ladder;
    struct encoder_thread *encoders[LADDER_MAX_SIZES]; // owned
    struct audio_thread *audio;                        // owned; NULL: no audio
    struct mailbox *mailbox;                           // owned; NULL before live_feed_start
    const struct live_feed_events *events;             // static
    void *ctx;                                         // borrowed
    pthread_mutex_t lock;                              // guards the members below
    pthread_cond_t changed;
    bool stop;
    bool ended; // the source has ended; it begins again after the last viewer has left
    int watchers[LADDER_MAX_SIZES];
    int hearers;
    int in_flight; // pictures that the encoders and the audio thread have not finished
    double speed;
    bool has_seek;
    usec_t seek_to;
    bool seek_ahead;
    usec_t position;     // media time of the next picture
    int64_t next_number; // number of the next picture that the source thread will pull
    usec_t offset; // media position minus the picture's pts, which counts frames; changed by seeks
};

// Frees the encoder and audio threads and the source. Only the source thread is left then.
void live_feed_free_parts(struct live_feed *e);
// Any thread. Takes over the references in `content`, even on failure. Returns false if the mailbox
// is full, or on lack of memory.
bool live_feed_post(struct live_feed *e, struct live_feed_item content);
// Any thread. An encoder has finished a picture or its audio, or it was not queued at all.
void live_feed_picture_done(struct live_feed *e);
// Caller holds e->lock. Returns true if the feed has a viewer or a listener.
bool live_feed_is_watched(const struct live_feed *e);
// Caller holds e->lock. The source has ended and the last viewer has left: rewinds, so that the
// next viewer starts at 0.
void live_feed_begin_again(struct live_feed *e);
void *live_feed_run(void *engine); // the source thread

#ifdef __cplusplus
}
#endif
#endif
