// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/sound_encoder.h"

#include <assert.h>
#include <opus.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"

enum { COMPLEXITY = 9 }; // 20 ms take well below one

struct sound_encoder {
    OpusEncoder *opus; // owned
    int delay;         // samples that the decoder's output is behind
    bool begun;
    int64_t position; // of pcm[0]
    int count;        // samples in pcm
    int16_t pcm[SOUND_RATE * SOUND_CHANNELS];
};

struct sound_encoder *sound_encoder_new(int bitrate_bps)
{
    struct sound_encoder *e = calloc(1, sizeof(*e));
    if (!e)
        return NULL;
    int err;
    e->opus = opus_encoder_create(SOUND_RATE, SOUND_CHANNELS, OPUS_APPLICATION_AUDIO, &err);
    if (!e->opus || opus_encoder_ctl(e->opus, OPUS_SET_BITRATE(bitrate_bps)) != OPUS_OK ||
        opus_encoder_ctl(e->opus, OPUS_SET_COMPLEXITY(COMPLEXITY)) != OPUS_OK ||
        opus_encoder_ctl(e->opus, OPUS_GET_LOOKAHEAD(&e->delay)) != OPUS_OK) {
        log_error("cannot set up the encoder of sound");
        sound_encoder_free(e);
        return NULL;
    }
    return e;
}

void sound_encoder_free(struct sound_encoder *e)
{
    if (!e)
        return;
    if (e->opus)
        opus_encoder_destroy(e->opus);
    free(e);
}

void sound_encoder_push(struct sound_encoder *e, int64_t position, const int16_t *pcm, int count)
{
    assert(count >= 0 && count <= SOUND_RATE - SOUND_PACKET);
    if (!e->begun || position != e->position + e->count) {
        if (e->begun)
            opus_encoder_ctl(e->opus, OPUS_RESET_STATE);
        e->begun = true;
        e->position = position;
        e->count = 0;
    }
    assert(e->count + count <= SOUND_RATE); // the caller pulls between
    memcpy(e->pcm + e->count * SOUND_CHANNELS, pcm, (size_t)count * SOUND_CHANNELS * sizeof(*pcm));
    e->count += count;
}

struct coded_sound *sound_encoder_pull(struct sound_encoder *e)
{
    if (e->count < SOUND_PACKET)
        return NULL;
    struct coded_sound *c = coded_sound_new();
    if (c) {
        int bytes = opus_encode(e->opus, e->pcm, SOUND_PACKET, c->data, sizeof(c->data));
        c->position = e->position - e->delay;
        c->bytes = bytes > 0 ? (size_t)bytes : 0;
        if (bytes <= 0) { // cannot be, of good parameters
            coded_sound_unref(c);
            c = NULL;
        }
    }
    e->position += SOUND_PACKET;
    e->count -= SOUND_PACKET;
    memmove(e->pcm, e->pcm + SOUND_PACKET * SOUND_CHANNELS,
            (size_t)e->count * SOUND_CHANNELS * sizeof(*e->pcm));
    return c;
}
