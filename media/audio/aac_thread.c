// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/audio/aac_thread.h"

#include <stdlib.h>

#include "common/net/mailbox.h"
#include "common/net/worker.h"
#include "media/audio/audio_decoder.h"
#include "media/convert/convert.h"

enum {
    MADE = 256,               // packets that wait for the loop
    CONCEAL = AUDIO_RATE / 5, // max. samples that are concealed
    CONCEAL_STEP = 120,
};

struct aac_thread {
    struct worker *worker;         // owned; of struct coded_audio
    struct mailbox *made;          // owned; of struct aac_packet
    struct audio_decoder *decoder; // owned; used by the thread alone
    struct aac_encoder *encoder;   // owned; used by the thread alone
    int64_t next;                  // position after the last packet; used by the thread alone
    aac_thread_fn *fn;
    void *ctx; // borrowed
};

static void encode(struct aac_thread *t, int64_t position, const int16_t *pcm, int count)
{
    struct aac_packet packet;
    aac_encoder_push(t->encoder, position, pcm, count);
    while (aac_encoder_pull(t->encoder, &packet)) {
        struct aac_packet *copy = malloc(sizeof(*copy));
        if (!copy)
            continue;
        *copy = packet;
        if (!mailbox_post(t->made, copy))
            free(copy);
    }
}

static void conceal(struct aac_thread *t, int64_t until)
{
    int16_t pcm[AUDIO_PACKET * AUDIO_CHANNELS];
    while (t->next < until) {
        int64_t left = until - t->next;
        int count = left < AUDIO_PACKET ? (int)left : AUDIO_PACKET;
        count = audio_decoder_conceal(t->decoder, count / CONCEAL_STEP * CONCEAL_STEP, pcm);
        if (count <= 0)
            return;
        encode(t, t->next, pcm, count);
        t->next += count;
    }
}

static void run(void *ctx, void *job)
{
    struct aac_thread *t = ctx;
    struct coded_audio *c = job;
    int16_t pcm[AUDIO_PACKET_MAX * AUDIO_CHANNELS];
    if (c->position > t->next && c->position - t->next <= CONCEAL)
        conceal(t, c->position);
    else if (c->position != t->next)
        audio_decoder_reset(t->decoder);
    int count = audio_decoder_decode(t->decoder, c->data, c->bytes, pcm);
    if (count > 0)
        encode(t, c->position, pcm, count);
    t->next = c->position + count;
    coded_audio_unref(c);
}

static void free_job(void *job)
{
    coded_audio_unref(job);
}

static void on_made(void *ctx, void *item, usec_t now)
{
    (void)now;
    struct aac_thread *t = ctx;
    t->fn(t->ctx, item);
    free(item);
}

struct aac_thread *aac_thread_new(uv_loop_t *loop, int bitrate_bps, aac_thread_fn *fn, void *ctx)
{
    static const struct worker_ops ops = {.run = run, .free_job = free_job};
    struct aac_thread *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    libav_log_to_log();
    t->fn = fn;
    t->ctx = ctx;
    t->next = INT64_MIN / 2;
    t->decoder = audio_decoder_new();
    t->encoder = aac_encoder_new(bitrate_bps);
    t->made = mailbox_new(loop, MADE, on_made, free, t);
    t->worker =
        t->decoder && t->encoder && t->made ? worker_new(&ops, AAC_THREAD_WAITING, t) : NULL;
    if (t->worker)
        return t;
    aac_thread_free(t);
    return NULL;
}

void aac_thread_free(struct aac_thread *t)
{
    if (!t)
        return;
    worker_free(t->worker);
    if (t->made)
        mailbox_free(t->made);
    aac_encoder_free(t->encoder);
    if (t->decoder)
        audio_decoder_free(t->decoder);
    free(t);
}

void aac_thread_push(struct aac_thread *t, struct coded_audio *c)
{
    if (!worker_push(t->worker, coded_audio_ref(c)))
        coded_audio_unref(c);
}
