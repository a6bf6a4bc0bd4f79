// SPDX-License-Identifier: GPL-2.0-or-later
// The small part of H.264's syntax (ITU-T H.264, 7.3) that Weir reads and rewrites without a codec.
#ifndef WEIR_MEDIA_RTP_H264_H
#define WEIR_MEDIA_RTP_H264_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum h264_nal_type {
    H264_SLICE = 1,
    H264_IDR = 5, // the highest type that carries slices
    H264_SEI = 6,
    H264_SPS = 7,
    H264_PPS = 8,
    H264_DELIMITER = 9,
    H264_SINGLE_MAX = 23, // up to this type an RTP payload is one NAL unit (RFC 6184, 5.2)
    H264_STAP_A = 24,     // RTP payloads of several small NAL units (RFC 6184, 5.7)
    H264_STAP_B = 25,     // with a decoding order number
    H264_MTAP16 = 26,     // each unit with the difference to it, and to the time stamp
    H264_MTAP24 = 27,
    H264_FU_A = 28, // RTP payloads with a fragment of a NAL unit (RFC 6184, 5.8)
    H264_FU_B = 29, // with a decoding order number
};

// How a payload of several units is laid out (RFC 6184, figures 7, 9 to 12): each unit follows a
// size of two bytes.
struct h264_units {
    uint8_t head;    // bytes before the first size; 0: it is no such payload
    uint8_t between; // bytes between a size and its unit
};
static inline struct h264_units h264_units_of(int type)
{
    return type == H264_STAP_A   ? (struct h264_units){1, 0}
           : type == H264_STAP_B ? (struct h264_units){3, 0}
           : type == H264_MTAP16 ? (struct h264_units){3, 3}
           : type == H264_MTAP24 ? (struct h264_units){3, 4}
                                 : (struct h264_units){0, 0};
}
// Returns the bytes before a fragment; 0: the payload is none.
static inline size_t h264_fragment_head(int type)
{
    return type == H264_FU_A ? 2 : type == H264_FU_B ? 4 : 0;
}

enum {
    H264_NAL_FORBIDDEN = 0x80, // bits of a NAL unit's first byte
    H264_NAL_REF_IDC = 0x60,
    H264_NAL_TYPE = 0x1f,
    H264_FU_START = 0x80, // bits of an FU header
    H264_FU_END = 0x40,
};

enum {
    H264_MAX_SPS = 1024,   // max. bytes of a sequence parameter set
    H264_WIDER = 8,        // bits added to frame_num
    H264_MAX_SIDE = 16384, // max. pixels of a picture's width or height
};

static inline enum h264_nal_type h264_nal_type_of(uint8_t first_byte)
{
    return (enum h264_nal_type)(first_byte & 0x1f);
}

// A receiver that drops temporal layers or loses frames has gaps in frame_num. Two changes make
// every decoder accept the gaps:
//   - gaps_in_frame_num_value_allowed_flag is set (7.4.2.1.1); strict decoders stop at a gap
//     without it;
//   - frame_num gets 8 more bits. x264 gives it 4. libavcodec derives the picture order (type 2,
//     8.2.1.3) from frame_num; a gap that hides the wrap to 0 makes it output nothing until the
//     next IDR.
// 8 bits are a byte, so the rest of a slice keeps its alignment and is copied unchanged.
//
// In streams with B frames the picture order (type 0) is not derived from frame_num, and the flag
// alone suffices. More bits would even be wrong there: if a reference is twice in a list, x264
// codes a difference that is 0 only modulo 2^4.
//
// All functions take a NAL unit without start code and return the new unit's length.

// Rewrites an SPS with both changes. *frame_num_bits: bits of frame_num before. ERR_MALFORMED if it
// is not an SPS, is truncated, or has log2_max_frame_num above 8. ERR_TOO_BIG if len >
// H264_MAX_SPS. ERR_FULL if `cap` is too small; len + len / 2 + 2 always suffices.
int h264_widen_sps(const uint8_t *nal, size_t len, int *frame_num_bits, uint8_t *out, size_t cap);

// Rewrites an SPS with the flag alone. Errors as h264_widen_sps, for any log2_max_frame_num.
int h264_allow_gaps(const uint8_t *nal, size_t len, uint8_t *out, size_t cap);

// Reads the size of the pictures, as shown, of an SPS. Returns 0; ERR_TOO_BIG; ERR_MALFORMED: it is
// none, is truncated, or has a side above H264_MAX_SIDE.
int h264_sps_size(const uint8_t *nal, size_t len, int *width, int *height);

struct h264_format {
    int chroma_format; // chroma_format_idc: 0: grey, 1: 4:2:0, 2: 4:2:2, 3: 4:4:4
    int luma_bits;     // of a sample
    int chroma_bits;
};
// Reads the format of the samples of an SPS; of a profile whose SPS has no such fields 4:2:0 and 8
// bits. Errors as h264_sps_size; ERR_MALFORMED also for values out of range (7.4.2.1.1).
int h264_sps_format(const uint8_t *nal, size_t len, struct h264_format *out);

// Returns false if an SPS says that no picture is shown after one that follows it (8.2.1,
// pic_order_cnt_type 2; E.2.1, max_num_reorder_frames 0; the baseline profile). True also if it is
// none, or says nothing.
bool h264_may_reorder(const uint8_t *nal, size_t len);
// Returns true if the unit is a B slice (7.4.3). Only streams with such slices reorder pictures.
bool h264_is_b_slice(const uint8_t *nal, size_t len);

// Rewrites a slice of a stream without separately coded colour planes. Its frame_num must have
// `frame_num_bits` bits and be equal to `frame_num` modulo 2^frame_num_bits; if not, returns
// ERR_MALFORMED. ERR_FULL if `cap` is too small; len + 4 always suffices.
int h264_widen_slice(const uint8_t *nal, size_t len, int frame_num_bits, uint32_t frame_num,
                     uint8_t *out, size_t cap);

DECLS_END
#endif
