// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/decode_thread.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/mailbox.h"
#include "media/decoder.h"

enum {
    FAILED_REMEMBERED = DECODE_QUEUE_FRAMES
}; // more cannot wait in the queue when the loop is told

struct decode_thread {
    pthread_t thread;
    struct worker_queue *queue; // owned
    struct show_queue *show;    // borrowed
    play_frame_fn *report;
    void *ctx; // borrowed
    // The thread's own:
    struct decoder *decoder; // owned
    struct {
        int64_t number;
        int size_id;
    } failed[FAILED_REMEMBERED]; // a ring
    int failed_count;            // ever
};

static bool rests_on_failed(const struct decode_thread *d, const struct play_frame *f)
{
    if (f->depends_on < 0)
        return false;
    for (int i = 0; i < FAILED_REMEMBERED && i < d->failed_count; i++) {
        if (d->failed[i].number == f->depends_on && d->failed[i].size_id == f->size_id)
            return true;
    }
    return false;
}

static void remember_failed(struct decode_thread *d, const struct play_frame *f)
{
    int i = d->failed_count++ % FAILED_REMEMBERED;
    if (d->failed_count == 2 * FAILED_REMEMBERED)
        d->failed_count = FAILED_REMEMBERED;
    d->failed[i].number = f->number;
    d->failed[i].size_id = f->size_id;
}

static bool decode(struct decode_thread *d, struct play_frame *f)
{
    usec_t began = clock_now();
    bool good =
        !rests_on_failed(d, f) &&
        decoder_decode(d->decoder, f->coded->data, f->coded->bytes, f->number, &f->picture) == 0;
    f->decoded_at = clock_now();
    f->decode_time = f->decoded_at - began;
    received_frame_free(f->coded);
    f->coded = NULL;
    if (!good)
        remember_failed(d, f);
    return good;
}

static void *run(void *arg)
{
    struct decode_thread *d = arg;
    struct play_frame *f;
    while ((f = worker_queue_pop(d->queue, USEC_NEVER))) {
        if (!decode(d, f)) {
            f->fate = FATE_FAILED;
            d->report(d->ctx, f);
        } else if (!f->show) {
            f->fate = FATE_DECODED_ONLY;
            d->report(d->ctx, f);
        } else if (!show_queue_push(d->show, f)) {
            f->fate = FATE_DISCARDED;
            d->report(d->ctx, f);
        }
    }
    return NULL;
}

static void free_frame(void *item)
{
    play_frame_free(item);
}

struct decode_thread *decode_thread_new(struct show_queue *show, play_frame_fn *report, void *ctx)
{
    struct decode_thread *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->show = show;
    d->report = report;
    d->ctx = ctx;
    d->decoder = decoder_new();
    if (!d->decoder)
        goto free_self;
    d->queue = worker_queue_new(DECODE_QUEUE_FRAMES, free_frame);
    if (!d->queue)
        goto free_decoder;
    if (pthread_create(&d->thread, NULL, run, d) != 0)
        goto free_queue;
    return d;

free_queue:
    worker_queue_free(d->queue);
free_decoder:
    decoder_free(d->decoder);
free_self:
    free(d);
    log_error("cannot start the decoder");
    return NULL;
}

bool decode_thread_push(struct decode_thread *d, struct play_frame *f)
{
    return worker_queue_push(d->queue, f);
}

void decode_thread_free(struct decode_thread *d)
{
    if (!d)
        return;
    worker_queue_clear(d->queue);
    worker_queue_close(d->queue);
    pthread_join(d->thread, NULL);
    worker_queue_free(d->queue);
    decoder_free(d->decoder);
    free(d);
}
