// SPDX-License-Identifier: GPL-2.0-or-later
// Opus packets in, PCM out; what is missing is concealed. The packets may be hostile.
#ifndef WEIR_MEDIA_SOUND_DECODER_H
#define WEIR_MEDIA_SOUND_DECODER_H

#include <stddef.h>

#include "media/sound.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sound_decoder;

struct sound_decoder *sound_decoder_new(void);    // NULL: logged
void sound_decoder_free(struct sound_decoder *d); // NULL is fine
// Samples that the packet holds, 1 .. SOUND_PACKET_MAX; 0: it is no packet of Opus.
int sound_packet_samples(const uint8_t *data, size_t len);
// Writes SOUND_PACKET_MAX samples at most to `out`; returns how many, 0: it does not decode.
int sound_decoder_decode(struct sound_decoder *d, const uint8_t *data, size_t len, int16_t *out);
// What may have been in the place of the next `count` samples, a multiple of 120 (2.5 ms).
int sound_decoder_conceal(struct sound_decoder *d, int count, int16_t *out);
void sound_decoder_reset(struct sound_decoder *d); // what follows has nothing to do with before

#ifdef __cplusplus
}
#endif
#endif
