// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes the audio of third parties through libavcodec to PCM of 48 kHz, two channels: AAC, G.711
// (A-law or mu-law) and others. The bytes may be hostile. One thread at a time.
#ifndef WEIR_MEDIA_AUDIO_AVCODEC_AUDIO_H
#define WEIR_MEDIA_AUDIO_AVCODEC_AUDIO_H

#include <libavcodec/codec_par.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/wire/sdp.h"
#include "media/coded/audio.h"

DECLS_BEGIN

enum {
    AVCODEC_AUDIO_MAX_BYTES = 8192,         // of a unit
    AVCODEC_AUDIO_MAX_PCM = 2 * AUDIO_RATE, // samples that a unit yields; the rest is dropped
};

struct avcodec_audio;

// `format`: of AAC its `config`, of G.711 its rate and channels. Returns NULL on failure, which it
// logs.
struct avcodec_audio *avcodec_audio_new(const struct sdp_audio *format);
// The same of a file's audio, of any codec that libavcodec decodes.
struct avcodec_audio *avcodec_audio_new_of(const AVCodecParameters *format);
void avcodec_audio_free(struct avcodec_audio *d); // NULL is fine
// Decodes an access unit of AAC, or a payload of G.711. Returns the number of samples in *pcm
// (borrowed until the next call); 0: it does not decode. *before: the first one belongs so many
// samples before the unit's time.
int avcodec_audio_decode(struct avcodec_audio *d, const uint8_t *data, size_t len,
                         const int16_t **pcm, int *before);

DECLS_END
#endif
