// SPDX-License-Identifier: GPL-2.0-or-later
// A CMAF track (ISO/IEC 23000-19): what its init segment says. Each track is in files of its own,
// with track ID 1.
//
//   H.264: sample entry avc1 with its parameter sets (ISO/IEC 14496-15, 5.4.2.1)
//   Opus:  "Encapsulation of Opus in ISO Base Media File Format", 4.3.2
//   AAC:   AAC-LC, mp4a with an elementary stream descriptor (ISO/IEC 14496-14, 5.6;
//          AudioSpecificConfig: ISO/IEC 14496-3, 1.6.2.1)
#ifndef WEIR_MEDIA_CMAF_CMAF_TRACK_H
#define WEIR_MEDIA_CMAF_CMAF_TRACK_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "media/cmaf/mp4_writer.h"
#include "media/coded/coded_frame.h"

DECLS_BEGIN

enum cmaf_codec { CMAF_H264, CMAF_OPUS, CMAF_AAC };

enum {
    CMAF_MAX_SET = 1024,  // max. bytes of a parameter set, and of all of a kind
    CMAF_CODEC_TEXT = 16, // bytes of a codec's name, with NUL
};

struct cmaf_sets { // all SPS or all PPS, as avcC has them
    int count;
    size_t bytes;
    uint8_t data[CMAF_MAX_SET]; // each: its length, 16 bits, and the NAL unit
};

struct cmaf_track {
    enum cmaf_codec codec;
    uint32_t timescale; // units of all times of the track, per second
    int bitrate_bps;    // of AAC
    // Of H.264:
    int width;
    int height;
    struct cmaf_sets sps;
    struct cmaf_sets pps;
};

// Copies all parameter sets of a key frame. Returns 0; ERR_NOT_FOUND without an SPS and a PPS;
// ERR_TOO_BIG.
int cmaf_track_learn(struct cmaf_track *t, const struct coded_frame *key);
// Returns true if the key frame has parameter sets, and others than the track.
bool cmaf_track_differs(const struct cmaf_track *t, const struct coded_frame *key);
// Writes the init segment: ftyp and moov. H.264: after cmaf_track_learn.
void cmaf_track_init_segment(const struct cmaf_track *t, struct mp4_writer *out);
// Writes the codec's name for a playlist (RFC 6381, 3.3): "avc1.64001f", "Opus" or "mp4a.40.2".
// `profile`: the profile-level-id of H.264, six hexadecimal digits; else not used.
void cmaf_codec_name(enum cmaf_codec codec, const char *profile, char out[CMAF_CODEC_TEXT]);

DECLS_END
#endif
