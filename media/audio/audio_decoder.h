// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes Opus packets to PCM and conceals lost packets. The packets may be hostile.
#ifndef WEIR_MEDIA_AUDIO_AUDIO_DECODER_H
#define WEIR_MEDIA_AUDIO_AUDIO_DECODER_H

#include <stddef.h>

#include "common/base/decls.h"
#include "media/coded/audio.h"

DECLS_BEGIN

struct audio_decoder;

struct audio_decoder *audio_decoder_new(void);    // returns NULL on failure, which it logs
void audio_decoder_free(struct audio_decoder *d); // NULL is fine
// Returns the number of samples in the packet, 1 .. AUDIO_PACKET_MAX; 0 if it is not an Opus
// packet.
int audio_packet_samples(const uint8_t *data, size_t len);
// Writes at most AUDIO_PACKET_MAX samples to `out`. Returns their number; 0 if the packet does not
// decode.
int audio_decoder_decode(struct audio_decoder *d, const uint8_t *data, size_t len, int16_t *out);
// Writes a guess of the next `count` samples, which were lost. `count`: a multiple of 120 (2.5 ms).
int audio_decoder_conceal(struct audio_decoder *d, int count, int16_t *out);
void audio_decoder_reset(struct audio_decoder *d); // the next packet starts a new stream

DECLS_END
#endif
