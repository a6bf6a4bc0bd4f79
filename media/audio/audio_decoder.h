// SPDX-License-Identifier: GPL-2.0-or-later
// Opus packets in, PCM out; what is missing is concealed. The packets may be hostile.
#ifndef WEIR_MEDIA_AUDIO_AUDIO_DECODER_H
#define WEIR_MEDIA_AUDIO_AUDIO_DECODER_H

#include <stddef.h>

#include "media/coded/audio.h"

#ifdef __cplusplus
extern "C" {
#endif

struct audio_decoder;

struct audio_decoder *audio_decoder_new(void);    // NULL: logged
void audio_decoder_free(struct audio_decoder *d); // NULL is fine
// Samples that the packet holds, 1 .. AUDIO_PACKET_MAX; 0: it is no packet of Opus.
int audio_packet_samples(const uint8_t *data, size_t len);
// Writes AUDIO_PACKET_MAX samples at most to `out`; returns how many, 0: it does not decode.
int audio_decoder_decode(struct audio_decoder *d, const uint8_t *data, size_t len, int16_t *out);
// What may have been in the place of the next `count` samples, a multiple of 120 (2.5 ms).
int audio_decoder_conceal(struct audio_decoder *d, int count, int16_t *out);
void audio_decoder_reset(struct audio_decoder *d); // what follows has nothing to do with before

#ifdef __cplusplus
}
#endif
#endif
