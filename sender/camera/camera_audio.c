// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/camera_audio.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "media/audio/audio_decoder.h"
#include "media/audio/audio_encoder.h"
#include "media/audio/avcodec_audio.h"
#include "media/rtp/aac_payload.h"
#include "sender/policy/audio_budget.h"

enum {
    PIECE = AUDIO_RATE / 10, // samples for the encoder at once
    SEAM = AUDIO_RATE / 200, // samples, 5 ms: time stamps are rounded, and av_sync.h moves by more
};

struct camera_audio {
    enum sdp_audio_codec codec;
    struct avcodec_audio *decoder; // owned; NULL: Opus
    struct audio_encoder *encoder; // owned; NULL: Opus
    camera_audio_fn *fn;           // static
    void *ctx;                     // borrowed
    struct audio_budget budget;
    bool begun;
    int64_t next; // position after the newest samples
    int before;   // samples that the decoder held before the newest ones
    struct aac_fragments fragments;
};

const char *camera_audio_codec_name(const struct sdp_audio *format)
{
    return format->codec == SDP_AUDIO_OPUS   ? "Opus"
           : format->codec == SDP_AUDIO_AAC  ? "AAC"
           : format->codec == SDP_AUDIO_L16  ? "L16"
           : format->codec >= SDP_AUDIO_G726 ? "G.726"
                                             : "G.711";
}

struct camera_audio *camera_audio_new(const struct sdp_audio *format, camera_audio_fn *fn,
                                      void *ctx)
{
    struct camera_audio *a = calloc(1, sizeof(*a));
    if (!a) {
        log_error("cannot take the camera's audio: out of memory");
        return NULL;
    }
    a->codec = format->codec;
    a->fn = fn;
    a->ctx = ctx;
    if (format->codec == SDP_AUDIO_OPUS)
        return a;
    a->decoder = avcodec_audio_new(format);
    a->encoder = a->decoder ? audio_encoder_new(CAMERA_AUDIO_BPS) : NULL;
    if (a->encoder)
        return a;
    camera_audio_free(a);
    return NULL;
}

void camera_audio_free(struct camera_audio *a)
{
    if (!a)
        return;
    avcodec_audio_free(a->decoder);
    audio_encoder_free(a->encoder);
    free(a);
}

static void encode(struct camera_audio *a, int64_t position, const int16_t *pcm, int count)
{
    for (int at = 0, n; at < count; at += n) {
        n = count - at < PIECE ? count - at : PIECE;
        audio_encoder_push(a->encoder, position + at, pcm + (size_t)at * AUDIO_CHANNELS, n);
        for (struct coded_audio *c; (c = audio_encoder_pull(a->encoder)) != NULL;)
            a->fn(a->ctx, c);
    }
}

// Decodes a unit. `position`: of its first sample.
static void decode(struct camera_audio *a, int64_t position, const uint8_t *data, size_t bytes,
                   usec_t now)
{
    const int16_t *pcm;
    if (!audio_budget_is_open(&a->budget, now))
        return;
    int count = avcodec_audio_decode(a->decoder, data, bytes, &pcm, &a->before);
    if (!count)
        return;
    audio_budget_take(&a->budget, audio_usec(count));
    if (!a->begun || llabs(position - a->before - a->next) > SEAM)
        a->next = position - a->before;
    a->begun = true;
    encode(a, a->next, pcm, count);
    a->next += count;
}

static void take_aac(struct camera_audio *a, const struct received_audio *p, usec_t now)
{
    struct aac_units found;
    if (aac_payload_read(&a->fragments, p->data, p->bytes, p->position, &found) != 0)
        return;
    for (int i = 0; i < found.count; i++) // they follow each other without a gap
        decode(a, i == 0 ? p->position : a->next + a->before, found.units[i].data,
               found.units[i].bytes, now);
}

static void pass(struct camera_audio *a, const struct received_audio *p, usec_t now)
{
    struct coded_audio *c;
    int samples = audio_packet_samples(p->data, p->bytes);
    if (!samples || p->bytes > sizeof(c->data) || !audio_budget_is_open(&a->budget, now))
        return;
    audio_budget_take(&a->budget, audio_usec(samples));
    c = coded_audio_new();
    if (!c)
        return;
    c->position = p->position;
    c->bytes = p->bytes;
    memcpy(c->data, p->data, p->bytes);
    a->fn(a->ctx, c);
}

void camera_audio_packet(struct camera_audio *a, const struct received_audio *p, usec_t now)
{
    if (a->codec == SDP_AUDIO_OPUS)
        pass(a, p, now);
    else if (a->codec == SDP_AUDIO_AAC)
        take_aac(a, p, now);
    else
        decode(a, p->position, p->data, p->bytes, now);
}
