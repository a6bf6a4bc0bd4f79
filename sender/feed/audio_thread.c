// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/audio_thread.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/worker.h"
#include "media/audio/audio_encoder.h"

enum {
    WAITING_PICTURES = 64,
    PIECE = AUDIO_RATE / 10, // max. samples per read
};

struct job {       // the audio of one picture's time
    int64_t begin; // media time in samples
    int64_t end;   // media time in samples
    int64_t shift; // position in the source minus media time, in samples
    int64_t place; // of the picture
    usec_t captured;
    usec_t capture_wall;
};

struct audio_thread {
    struct worker *worker; // owned; of struct job
    int track;
    struct fps fps;
    struct audio_source *source;              // owned; used by the thread alone
    struct audio_encoder *encoder;            // owned; used by the thread alone
    int64_t next;                             // media time after the last read, in samples
    const struct audio_thread_events *events; // static
    void *ctx;                                // borrowed
    pthread_mutex_t lock;                     // guards the members below
    struct live_feed_audio_stats stats;
};

static void encode_piece(struct audio_thread *t, const struct job *job, int64_t position,
                         const int16_t *pcm, int count)
{
    struct live_feed_audio_stats did = {0};
    usec_t begun = clock_now();
    audio_encoder_push(t->encoder, position, pcm, count);
    struct coded_audio *c;
    while ((c = audio_encoder_pull(t->encoder))) {
        usec_t after = audio_usec(c->position - job->begin);
        c->track = t->track;
        c->captured = job->captured + after;
        c->capture_wall = job->capture_wall + after;
        did.packets++;
        did.bytes += c->bytes;
        t->events->on_audio(t->ctx, c);
    }
    did.busy = clock_now() - begun;
    pthread_mutex_lock(&t->lock);
    t->stats.packets += did.packets;
    t->stats.bytes += did.bytes;
    t->stats.busy += did.busy;
    pthread_mutex_unlock(&t->lock);
}

static void encode(struct audio_thread *t, const struct job *job)
{
    int16_t pcm[PIECE * AUDIO_CHANNELS];
    int64_t end = job->end + (t->source->lag ? 0 : AUDIO_AHEAD);
    int64_t at = t->next > job->begin && t->next <= end ? t->next : job->begin;
    t->next = end;
    t->source->place = job->place;
    while (at < end) {
        int count = (int)(end - at < PIECE ? end - at : PIECE);
        t->source->ops->read(t->source, at + job->shift, pcm, count);
        encode_piece(t, job, at - t->source->lag, pcm, count);
        at += count;
    }
}

static void run(void *ctx, void *job)
{
    struct audio_thread *t = ctx;
    encode(t, job);
    free(job);
    t->events->on_done(t->ctx);
}

static const struct worker_ops ENCODES = {.run = run, .free_job = free};

struct audio_thread *audio_thread_new(struct audio_source *source, int track, struct fps fps,
                                      int bitrate_bps, const struct audio_thread_events *events,
                                      void *ctx)
{
    struct audio_thread *t = calloc(1, sizeof(*t));
    if (!t)
        goto free_source;
    *t = (struct audio_thread){
        .track = track, .fps = fps, .source = source, .events = events, .ctx = ctx};
    t->encoder = audio_encoder_new(bitrate_bps);
    if (!t->encoder)
        goto free_thread;
    pthread_mutex_init(&t->lock, NULL);
    t->worker = worker_new(&ENCODES, WAITING_PICTURES, t);
    if (t->worker)
        return t;
    pthread_mutex_destroy(&t->lock);
    audio_encoder_free(t->encoder);
free_thread:
    free(t);
free_source:
    audio_source_free(source);
    log_error("cannot start the audio encoder");
    return NULL;
}

void audio_thread_free(struct audio_thread *t)
{
    if (!t)
        return;
    worker_free(t->worker);
    pthread_mutex_destroy(&t->lock);
    audio_encoder_free(t->encoder);
    audio_source_free(t->source);
    free(t);
}

static int64_t samples_of_frames(int64_t count, struct fps fps)
{
    return count * AUDIO_RATE * fps.den / fps.num;
}

bool audio_thread_push(struct audio_thread *t, const struct picture *p, usec_t captured)
{
    struct job *job = malloc(sizeof(*job));
    if (job)
        *job = (struct job){.begin = samples_of_frames(p->number, t->fps),
                            .end = samples_of_frames(p->number + 1, t->fps),
                            .shift = audio_samples(p->shift),
                            .place = p->place,
                            .captured = captured,
                            .capture_wall = p->capture_wall};
    if (worker_push(t->worker, job))
        return true;
    free(job);
    return false;
}

void audio_thread_stats(struct audio_thread *t, struct live_feed_audio_stats *out)
{
    pthread_mutex_lock(&t->lock);
    *out = t->stats;
    pthread_mutex_unlock(&t->lock);
    out->overload = worker_refused(t->worker);
}
