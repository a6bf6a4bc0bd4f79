// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/video/decode_thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/mailbox.h"

enum {
    FAILED_REMEMBERED = DECODE_QUEUE_FRAMES
}; // more cannot wait in the queue when the loop is told

static const usec_t STANDSTILL = 500 * USEC_PER_MSEC; // pictures that wait for more are given up

struct decode_thread {
    pthread_t thread;
    struct worker_queue *queue; // owned
    struct render_queue *show;  // borrowed
    play_frame_fn *report;
    void *ctx; // borrowed
    // The thread's own:
    struct decoder *decoder; // owned
    struct {
        int64_t number;
        int size_id;
    } failed[FAILED_REMEMBERED]; // a ring
    int failed_count;            // ever
    enum decoder_order order;
    struct play_frame *pending[DECODE_MAX_REORDER]; // owned; decoded, their pictures are to come
    int pending_count;
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

static void end_as(struct decode_thread *d, struct play_frame *f, enum frame_fate fate)
{
    f->fate = fate;
    d->report(d->ctx, f);
}

static void hand_on(struct decode_thread *d, struct play_frame *f)
{
    if (!f->show)
        end_as(d, f, FATE_DECODED_ONLY);
    else if (!render_queue_push(d->show, f))
        end_as(d, f, FATE_DISCARDED);
}

// ---- Pictures that come in another order than their frames ----

static struct play_frame *take_pending(struct decode_thread *d, int i)
{
    struct play_frame *f = d->pending[i];
    d->pending_count--;
    memmove(&d->pending[i], &d->pending[i + 1],
            (size_t)(d->pending_count - i) * sizeof(d->pending[0]));
    return f;
}

static void give_up_pending(struct decode_thread *d)
{
    while (d->pending_count)
        end_as(d, take_pending(d, 0), FATE_DECODED_ONLY);
}

// `picture` is taken over. One whose frame was given up is left out.
static void match(struct decode_thread *d, struct picture *picture)
{
    for (int i = 0; i < d->pending_count; i++) {
        if (d->pending[i]->number != picture->number)
            continue;
        struct play_frame *f = take_pending(d, i);
        f->picture = picture;
        f->decoded_at = clock_now();
        hand_on(d, f);
        return;
    }
    picture_unref(picture);
}

static void sort_out(struct decode_thread *d, struct play_frame *f)
{
    struct picture *picture = f->picture;
    f->picture = NULL;
    if (d->pending_count == DECODE_MAX_REORDER)
        end_as(d, take_pending(d, 0), FATE_DECODED_ONLY);
    d->pending[d->pending_count++] = f;
    while (picture) {
        match(d, picture);
        picture = decoder_more(d->decoder);
    }
}

static void *run(void *arg)
{
    struct decode_thread *d = arg;
    for (;;) {
        usec_t deadline = d->pending_count ? clock_now() + STANDSTILL : USEC_NEVER;
        struct play_frame *f = worker_queue_pop(d->queue, deadline);
        bool stands = !f && d->pending_count;
        if (stands)
            give_up_pending(d);
        if (!f && !stands)
            return NULL;
        if (!f)
            continue;
        if (!decode(d, f)) {
            give_up_pending(d);
            end_as(d, f, FATE_FAILED);
        } else if (d->order == DECODER_AS_SHOWN) {
            sort_out(d, f);
        } else {
            hand_on(d, f);
        }
    }
}

static void free_frame(void *item)
{
    play_frame_free(item);
}

struct decode_thread *decode_thread_new(struct render_queue *show, enum decoder_order order,
                                        play_frame_fn *report, void *ctx)
{
    struct decode_thread *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->show = show;
    d->report = report;
    d->ctx = ctx;
    d->order = order;
    d->decoder = decoder_new(order);
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
