// SPDX-License-Identifier: GPL-2.0-or-later
// PCM in, Opus packets out. Pieces of any length come in; a packet leaves whenever 20 ms are there.
// Each says where it stands in media time, the encoder's delay counted: a decoder's first sample of
// a packet is of the packet's position.
#ifndef WEIR_MEDIA_AUDIO_AUDIO_ENCODER_H
#define WEIR_MEDIA_AUDIO_AUDIO_ENCODER_H

#include "media/coded/coded_audio.h"

#ifdef __cplusplus
extern "C" {
#endif

struct audio_encoder;

enum { AUDIO_MIN_BPS = 16000, AUDIO_MAX_BPS = 256000 };

struct audio_encoder *audio_encoder_new(int bitrate_bps); // NULL: logged
void audio_encoder_free(struct audio_encoder *e);         // NULL is fine
// `count` samples follow, from media time `position` on. What is left of a stretch that they do not
// go on from is dropped.
void audio_encoder_push(struct audio_encoder *e, int64_t position, const int16_t *pcm, int count);
// The next packet: the caller's, without its instants. NULL: more samples are needed.
struct coded_audio *audio_encoder_pull(struct audio_encoder *e);

#ifdef __cplusplus
}
#endif
#endif
