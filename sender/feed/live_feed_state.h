// SPDX-License-Identifier: GPL-2.0-or-later
// What engine.c, the loop's side, and engine_run.c, the source thread, share; nobody else includes
// it.
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

// What travels to the loop: a frame, a packet of sound, the end of the source, or that of the
// engine's threads.
struct live_feed_item {
    struct coded_frame *frame; // one reference; NULL: it is not one
    struct coded_audio *audio; // likewise
    int err;
    bool gone; // the last item: the threads have ended
};

struct live_feed {
    pthread_t thread;
    bool started;
    bool closed;           // loop thread: live_feed_free was called, the threads have not all ended
    struct source *source; // owned; source thread
    struct ladder ladder;
    struct encoder_thread *encoders[LADDER_MAX_SIZES]; // owned
    struct audio_thread *audio;                        // owned; NULL: there is none
    struct mailbox *mailbox;                           // owned; NULL before live_feed_start
    const struct live_feed_events *events;             // static
    void *ctx;                                         // borrowed
    pthread_mutex_t lock;                              // guards what follows
    pthread_cond_t changed;
    bool stop;
    bool ended; // waits for the last viewer to leave before it begins again
    int watchers[LADDER_MAX_SIZES];
    int hearers;
    int in_flight; // pictures that an encoder has not answered for, and those of the sound
    double speed;
    bool has_seek;
    usec_t seek_to;
    bool seek_ahead;
    usec_t position;     // of the next picture
    int64_t next_number; // of the picture that the source is asked for next
    usec_t offset; // media position minus picture pts, which counts frames: what seeks have moved
};

// Frees the encoders and what they read: no thread but the source thread is left.
void live_feed_free_parts(struct live_feed *e);
// Takes what is in it, in every case. Any thread. False: the loop is behind, or no memory.
bool live_feed_post(struct live_feed *e, struct live_feed_item content);
// An encoder, or who asks one, is done with a picture or the sound of one. Any thread.
void live_feed_answered(struct live_feed *e);
// Locked: somebody does.
bool live_feed_is_watched(const struct live_feed *e);
// Locked: the source ended, and nobody watches any more. Who comes next, and asks where, is at the
// beginning.
void live_feed_begin_again(struct live_feed *e);
void *engine_run(void *engine); // the source thread

#ifdef __cplusplus
}
#endif
#endif
