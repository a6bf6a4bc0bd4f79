// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes PCM to Opus packets of 20 ms. The caller pushes pieces of any length. A packet carries
// its position in media time, corrected by the encoder's delay: the first sample that a decoder
// outputs for a packet belongs at the packet's position.
#ifndef WEIR_MEDIA_AUDIO_AUDIO_ENCODER_H
#define WEIR_MEDIA_AUDIO_AUDIO_ENCODER_H

#include "common/base/decls.h"
#include "media/coded/coded_audio.h"

DECLS_BEGIN

struct audio_encoder;

enum { AUDIO_MIN_BPS = 16000, AUDIO_MAX_BPS = 256000 };

struct audio_encoder *audio_encoder_new(int bitrate_bps); // returns NULL on failure, which it logs
void audio_encoder_free(struct audio_encoder *e);         // NULL is fine
// Appends `count` samples that begin at media time `position`. If they do not continue the samples
// before them, the encoder drops the unencoded rest of those.
void audio_encoder_push(struct audio_encoder *e, int64_t position, const int16_t *pcm, int count);
// Returns the next packet, which the caller owns; its send and capture times are unset. Returns
// NULL if more samples are needed.
struct coded_audio *audio_encoder_pull(struct audio_encoder *e);

DECLS_END
#endif
