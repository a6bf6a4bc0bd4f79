// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/audio/audio_encoder.h"

#include <assert.h>
#include <opus.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"

enum { COMPLEXITY = 9 }; // of Opus's 0 .. 10; encoding 20 ms takes well below 1 ms

struct audio_encoder {
    OpusEncoder *opus; // owned
    int delay;         // Opus's look-ahead: the decoder's output is late by this many samples
    bool begun;
    int64_t position; // media time of pcm[0], in samples
    int count;        // samples in pcm
    int16_t pcm[AUDIO_RATE * AUDIO_CHANNELS];
};

struct audio_encoder *audio_encoder_new(int bitrate_bps)
{
    struct audio_encoder *e = calloc(1, sizeof(*e));
    if (!e)
        return NULL;
    int err;
    e->opus = opus_encoder_create(AUDIO_RATE, AUDIO_CHANNELS, OPUS_APPLICATION_AUDIO, &err);
    if (!e->opus || opus_encoder_ctl(e->opus, OPUS_SET_BITRATE(bitrate_bps)) != OPUS_OK ||
        opus_encoder_ctl(e->opus, OPUS_SET_COMPLEXITY(COMPLEXITY)) != OPUS_OK ||
        opus_encoder_ctl(e->opus, OPUS_GET_LOOKAHEAD(&e->delay)) != OPUS_OK) {
        log_error("cannot create the Opus encoder");
        audio_encoder_free(e);
        return NULL;
    }
    return e;
}

void audio_encoder_free(struct audio_encoder *e)
{
    if (!e)
        return;
    if (e->opus)
        opus_encoder_destroy(e->opus);
    free(e);
}

void audio_encoder_push(struct audio_encoder *e, int64_t position, const int16_t *pcm, int count)
{
    assert(count >= 0 && count <= AUDIO_RATE - AUDIO_PACKET);
    if (!e->begun || position != e->position + e->count) {
        if (e->begun)
            opus_encoder_ctl(e->opus, OPUS_RESET_STATE);
        e->begun = true;
        e->position = position;
        e->count = 0;
    }
    assert(e->count + count <= AUDIO_RATE); // the caller pulls all packets after each push
    memcpy(e->pcm + e->count * AUDIO_CHANNELS, pcm, (size_t)count * AUDIO_CHANNELS * sizeof(*pcm));
    e->count += count;
}

struct coded_audio *audio_encoder_pull(struct audio_encoder *e)
{
    if (e->count < AUDIO_PACKET)
        return NULL;
    struct coded_audio *c = coded_audio_new();
    if (c) {
        int bytes = opus_encode(e->opus, e->pcm, AUDIO_PACKET, c->data, sizeof(c->data));
        c->position = e->position - e->delay;
        c->bytes = bytes > 0 ? (size_t)bytes : 0;
        if (bytes <= 0) { // impossible with valid parameters
            coded_audio_unref(c);
            c = NULL;
        }
    }
    e->position += AUDIO_PACKET;
    e->count -= AUDIO_PACKET;
    memmove(e->pcm, e->pcm + AUDIO_PACKET * AUDIO_CHANNELS,
            (size_t)e->count * AUDIO_CHANNELS * sizeof(*e->pcm));
    return c;
}
