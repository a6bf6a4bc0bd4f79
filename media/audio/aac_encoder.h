// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes PCM to AAC-LC (libavcodec's own encoder), 48 kHz and two channels, in frames of 1024
// samples, without ADTS headers. The caller pushes pieces of any length. A packet carries its
// position in media time: that of the first sample that a decoder outputs for it.
#ifndef WEIR_MEDIA_AUDIO_AAC_ENCODER_H
#define WEIR_MEDIA_AUDIO_AAC_ENCODER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "media/coded/audio.h"

DECLS_BEGIN

enum {
    AAC_FRAME = 1024,     // samples of each channel in a packet
    AAC_MAX_BYTES = 1536, // of a packet: 6144 bits a channel (ISO/IEC 14496-3, 4.5.3.2)
};

struct aac_packet {
    int64_t position;
    size_t bytes;
    uint8_t data[AAC_MAX_BYTES];
};

struct aac_encoder;

struct aac_encoder *aac_encoder_new(int bitrate_bps); // returns NULL on failure, which it logs
void aac_encoder_free(struct aac_encoder *e);         // NULL is fine
// Appends `count` samples that begin at media time `position`. If they do not continue the samples
// before them, the encoder drops the unencoded rest of those; it ignores samples that are
// earlier. count <= AUDIO_PACKET_MAX.
void aac_encoder_push(struct aac_encoder *e, int64_t position, const int16_t *pcm, int count);
// Returns true if *out is the next packet; false if more samples are needed.
bool aac_encoder_pull(struct aac_encoder *e, struct aac_packet *out);

DECLS_END
#endif
