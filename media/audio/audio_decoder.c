// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/audio/audio_decoder.h"

#include <limits.h>
#include <opus.h>
#include <stdlib.h>

#include "common/base/log.h"

struct audio_decoder {
    OpusDecoder *opus; // owned
};

struct audio_decoder *audio_decoder_new(void)
{
    struct audio_decoder *d = calloc(1, sizeof(*d));
    int err;
    if (d)
        d->opus = opus_decoder_create(AUDIO_RATE, AUDIO_CHANNELS, &err);
    if (d && d->opus)
        return d;
    log_error("cannot create the Opus decoder: no memory");
    free(d);
    return NULL;
}

void audio_decoder_free(struct audio_decoder *d)
{
    if (!d)
        return;
    opus_decoder_destroy(d->opus);
    free(d);
}

int audio_packet_samples(const uint8_t *data, size_t len)
{
    if (len == 0 || len > INT_MAX)
        return 0;
    int samples = opus_packet_get_nb_samples(data, (opus_int32)len, AUDIO_RATE);
    return samples > 0 && samples <= AUDIO_PACKET_MAX ? samples : 0;
}

int audio_decoder_decode(struct audio_decoder *d, const uint8_t *data, size_t len, int16_t *out)
{
    if (len == 0 || len > INT_MAX) // length 0 would ask Opus to conceal a loss
        return 0;
    int samples = opus_decode(d->opus, data, (opus_int32)len, out, AUDIO_PACKET_MAX, 0);
    return samples > 0 ? samples : 0;
}

int audio_decoder_conceal(struct audio_decoder *d, int count, int16_t *out)
{
    int samples = opus_decode(d->opus, NULL, 0, out, count, 0);
    return samples > 0 ? samples : 0;
}

void audio_decoder_reset(struct audio_decoder *d)
{
    opus_decoder_ctl(d->opus, OPUS_RESET_STATE);
}
