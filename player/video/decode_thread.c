// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/video/decode_thread.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/worker.h"

// When the loop learns of a failure it pushes no more dependent frames, so those are in the queue.
enum { FAILED_REMEMBERED = DECODE_QUEUE_FRAMES };

// After this time without input, frames without a picture are given up.
static const usec_t STANDSTILL = 500 * USEC_PER_MSEC;

struct decode_thread {
    struct worker *worker;     // owned; of struct play_frame
    struct render_queue *show; // borrowed
    play_frame_fn *report;
    void *ctx; // borrowed
    // Used by the thread alone:
    struct decoder *decoder; // owned
    struct {
        int64_t number;
        int size_id;
    } failed[FAILED_REMEMBERED]; // a ring
    int failed_count;            // ever
    enum decoder_order order;
    usec_t last_show_at;                            // DECODER_AS_SHOWN: of the last picture
    struct play_frame *pending[DECODE_MAX_REORDER]; // owned; decoded, without pictures yet
    int pending_count;
};

static bool depends_on_failed(const struct decode_thread *d, const struct play_frame *f)
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

// Decodes the layers of a picture; the picture is that of the last one. A failure loses all of the
// decoder's references, so it is one of the whole picture.
static bool decode_layers(struct decode_thread *d, struct play_frame *f)
{
    for (const struct received_frame *layer = f->coded; layer; layer = layer->upper) {
        picture_unref(f->picture);
        f->picture = NULL;
        if (decoder_decode(d->decoder, layer->data, layer->bytes, f->number, &f->picture) != 0)
            return false;
    }
    return true;
}

static bool decode(struct decode_thread *d, struct play_frame *f)
{
    usec_t began = clock_now();
    bool good = !depends_on_failed(d, f) && decode_layers(d, f);
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

// ---- Pictures that leave the decoder in an order other than their frames' ----

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

// Takes over `picture`. If its frame was given up, the picture is dropped.
static void match(struct decode_thread *d, struct picture *picture)
{
    for (int i = 0; i < d->pending_count; i++) {
        if (d->pending[i]->number != picture->number)
            continue;
        struct play_frame *f = take_pending(d, i);
        f->picture = picture;
        f->decoded_at = clock_now();
        // Of several pictures that come at once each is due, in their order.
        f->show_at = d->last_show_at = usec_max(f->show_at, d->last_show_at);
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

static void run(void *ctx, void *frame)
{
    struct decode_thread *d = ctx;
    struct play_frame *f = frame;
    if (!decode(d, f)) {
        give_up_pending(d);
        end_as(d, f, FATE_FAILED);
    } else if (d->order == DECODER_AS_SHOWN) {
        sort_out(d, f);
    } else {
        hand_on(d, f);
    }
}

static usec_t standstill(void *ctx)
{
    const struct decode_thread *d = ctx;
    return d->pending_count ? clock_now() + STANDSTILL : USEC_NEVER;
}

static void on_standstill(void *ctx)
{
    give_up_pending(ctx);
}

static void free_frame(void *item)
{
    play_frame_free(item);
}

static const struct worker_ops DECODES = {
    .run = run, .free_job = free_frame, .wait_until = standstill, .on_idle = on_standstill};

struct decode_thread *decode_thread_new(struct render_queue *show, struct decoder *decoder,
                                        enum decoder_order order, play_frame_fn *report, void *ctx)
{
    struct decode_thread *d = decoder ? calloc(1, sizeof(*d)) : NULL;
    if (!d)
        goto free_decoder;
    d->show = show;
    d->report = report;
    d->ctx = ctx;
    d->order = order;
    d->decoder = decoder;
    d->worker = worker_new(&DECODES, DECODE_QUEUE_FRAMES, d);
    if (d->worker)
        return d;
    free(d);
free_decoder:
    decoder_free(decoder);
    log_error("cannot start the decoder");
    return NULL;
}

bool decode_thread_push(struct decode_thread *d, struct play_frame *f)
{
    return worker_push(d->worker, f);
}

void decode_thread_free(struct decode_thread *d)
{
    if (!d)
        return;
    worker_free(d->worker);
    decoder_free(d->decoder);
    free(d);
}
