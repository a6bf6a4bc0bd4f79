// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/push/push_aac.h"

#include <stdlib.h>

#include "common/net/clock.h"
#include "media/audio/aac_thread.h"
#include "media/rtp/aac_payload.h"

struct push_aac {
    struct aac_thread *thread; // owned
    int64_t position;          // of the newest Opus packet, and its capture times
    usec_t captured;
    usec_t capture_wall;
    push_aac_fn *fn;
    void *ctx; // borrowed
};

static void on_aac(void *ctx, const struct aac_packet *p)
{
    struct push_aac *a = ctx;
    usec_t later = audio_usec(p->position - a->position);
    for (size_t at = 0; at < p->bytes;) {
        struct coded_audio *c = coded_audio_new();
        if (!c)
            return;
        c->position = p->position;
        c->captured = a->captured + later;
        c->capture_wall = a->capture_wall + later;
        c->bytes = aac_payload_write(p->data, p->bytes, &at, c->data, sizeof(c->data));
        c->marker = at == p->bytes;
        a->fn(a->ctx, c, clock_now());
        coded_audio_unref(c);
    }
}

struct push_aac *push_aac_new(uv_loop_t *loop, push_aac_fn *fn, void *ctx)
{
    struct push_aac *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    a->fn = fn;
    a->ctx = ctx;
    a->thread = aac_thread_new(loop, PUSH_AAC_BPS, on_aac, a);
    if (a->thread)
        return a;
    free(a);
    return NULL;
}

void push_aac_free(struct push_aac *a)
{
    if (!a)
        return;
    aac_thread_free(a->thread);
    free(a);
}

void push_aac_push(struct push_aac *a, struct coded_audio *c)
{
    a->position = c->position;
    a->captured = c->captured;
    a->capture_wall = c->capture_wall;
    aac_thread_push(a->thread, c);
}
