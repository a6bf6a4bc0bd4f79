// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/sound_decoder.h"

#include <limits.h>
#include <opus.h>
#include <stdlib.h>

#include "common/base/log.h"

struct sound_decoder {
    OpusDecoder *opus; // owned
};

struct sound_decoder *sound_decoder_new(void)
{
    struct sound_decoder *d = calloc(1, sizeof(*d));
    int err;
    if (d)
        d->opus = opus_decoder_create(SOUND_RATE, SOUND_CHANNELS, &err);
    if (d && d->opus)
        return d;
    log_error("cannot set up the decoder of sound");
    free(d);
    return NULL;
}

void sound_decoder_free(struct sound_decoder *d)
{
    if (!d)
        return;
    opus_decoder_destroy(d->opus);
    free(d);
}

int sound_packet_samples(const uint8_t *data, size_t len)
{
    if (len == 0 || len > INT_MAX)
        return 0;
    int samples = opus_packet_get_nb_samples(data, (opus_int32)len, SOUND_RATE);
    return samples > 0 && samples <= SOUND_PACKET_MAX ? samples : 0;
}

int sound_decoder_decode(struct sound_decoder *d, const uint8_t *data, size_t len, int16_t *out)
{
    if (len == 0 || len > INT_MAX)
        return 0;
    int samples = opus_decode(d->opus, data, (opus_int32)len, out, SOUND_PACKET_MAX, 0);
    return samples > 0 ? samples : 0;
}

int sound_decoder_conceal(struct sound_decoder *d, int count, int16_t *out)
{
    int samples = opus_decode(d->opus, NULL, 0, out, count, 0);
    return samples > 0 ? samples : 0;
}

void sound_decoder_reset(struct sound_decoder *d)
{
    opus_decoder_ctl(d->opus, OPUS_RESET_STATE);
}
