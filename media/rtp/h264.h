// SPDX-License-Identifier: GPL-2.0-or-later
// The little of H.264's syntax (ITU-T H.264, 7.3) that is done to bytes without a codec.
#ifndef WEIR_MEDIA_RTP_H264_H
#define WEIR_MEDIA_RTP_H264_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum h264_nal_type {
    H264_SLICE = 1,
    H264_IDR = 5, // the last type that carries slices
    H264_SEI = 6,
    H264_SPS = 7,
    H264_PPS = 8,
    H264_DELIMITER = 9,
    H264_SINGLE_MAX = 23, // up to this type an RTP payload is one NAL unit (RFC 6184, 5.2)
    H264_STAP_A = 24,     // several small NAL units in one payload (5.7.1)
    H264_FU_A = 28,       // a fragment of one (5.8)
};

enum {
    H264_NAL_FORBIDDEN = 0x80, // of a NAL unit's first byte
    H264_NAL_REF_IDC = 0x60,
    H264_NAL_TYPE = 0x1f,
    H264_FU_START = 0x80, // of an FU header
    H264_FU_END = 0x40,
};

enum {
    H264_MAX_SPS = 1024, // bytes of a sequence parameter set that we handle
    H264_WIDER = 8,      // bits added to frame_num
};

static inline enum h264_nal_type h264_nal_type_of(uint8_t first_byte)
{
    return (enum h264_nal_type)(first_byte & 0x1f);
}

// A receiver that drops temporal layers, or loses frames, sees gaps in frame_num. Two changes make
// every decoder take them:
//   - gaps_in_frame_num_value_allowed_flag is set (7.4.2.1.1); strict decoders stop at a gap
//     without it;
//   - frame_num gets 8 more bits. x264 gives it 4, and a gap that hides the wrap to 0 makes
//     libavcodec lose count of the picture order (of type 2, 8.2.1.3), which is derived from
//     frame_num: it shows nothing until the next IDR.
// 8 bits are a byte, so all that follows in a slice keeps its alignment and is copied as it is.
//
// Where the picture order is not derived from frame_num (of type 0, that of streams with B frames),
// the flag alone is enough; more bits would be wrong there: x264 tells of a reference twice in a
// list by a difference that is 0 only modulo the 4.
//
// All take a NAL unit without start code and return the new one's length.

// An SPS. *frame_num_bits gets the number of bits before. ERR_MALFORMED: not an SPS, breaks off, or
// log2_max_frame_num above 8; ERR_TOO_BIG: len > H264_MAX_SPS; ERR_FULL: `cap` too small; len + len
// / 2 + 2 always suffices.
int h264_widen_sps(const uint8_t *nal, size_t len, int *frame_num_bits, uint8_t *out, size_t cap);

// An SPS, the flag alone; likewise, but for log2_max_frame_num.
int h264_allow_gaps(const uint8_t *nal, size_t len, uint8_t *out, size_t cap);

// A slice (of a stream without colour planes coded separately) whose frame_num has `frame_num_bits`
// bits and is `frame_num` modulo that. ERR_MALFORMED: it is not; ERR_FULL: `cap` too small; len + 4
// always suffices.
int h264_widen_slice(const uint8_t *nal, size_t len, int frame_num_bits, uint32_t frame_num,
                     uint8_t *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
