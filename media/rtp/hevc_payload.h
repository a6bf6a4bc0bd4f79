// SPDX-License-Identifier: GPL-2.0-or-later
// RTP payload format for HEVC, receiver's side (RFC 7798: single NAL units, aggregation packets,
// fragmentation units, without decoding order numbers). The frame's bytes are Annex B: a start code
// before each NAL unit. packetiser_init_hevc is the sender's side.
//
//    0                   1
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5      of each NAL unit, and of each payload
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |F|   Type    |  LayerId  | TID |     F: has errors; TID: the temporal id plus 1
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
#ifndef WEIR_MEDIA_RTP_HEVC_PAYLOAD_H
#define WEIR_MEDIA_RTP_HEVC_PAYLOAD_H

#include "common/base/decls.h"
#include "media/rtp/payload_format.h"

DECLS_BEGIN

enum hevc_nal_type {  // ITU-T H.265, table 7-1
    HEVC_TRAIL_N = 0, // even types below 16: no frame of the same temporal id depends on it
    HEVC_LAST_NON_REFERENCE = 14,
    HEVC_FIRST_IRAP = 16, // pictures at which decoding may begin
    HEVC_IDR_W_RADL = 19,
    HEVC_IDR_N_LP = 20,
    HEVC_LAST_IRAP = 23,
    HEVC_LAST_SLICE = 31, // the highest type that carries slices
    HEVC_VPS = 32,
    HEVC_SPS = 33,
    HEVC_PPS = 34,
    HEVC_DELIMITER = 35,
    HEVC_SEI = 39,        // before the slices
    HEVC_SINGLE_MAX = 47, // up to this type an RTP payload is one NAL unit (RFC 7798, 4.4.1)
    HEVC_AP = 48,         // RTP payload of several small NAL units (RFC 7798, 4.4.2)
    HEVC_FU = 49,         // RTP payload with a fragment of a NAL unit (RFC 7798, 4.4.3)
};

enum {
    HEVC_NAL_HEADER = 2,       // bytes
    HEVC_NAL_FORBIDDEN = 0x80, // bits of the header's first byte
    HEVC_NAL_TYPE_SHIFT = 1,
    HEVC_NAL_LAYER_HIGH = 0x01,
    HEVC_NAL_TID = 0x07,  // bits of the second byte
    HEVC_FU_START = 0x80, // bits of an FU header
    HEVC_FU_END = 0x40,
    HEVC_FU_TYPE = 0x3f,
};

static inline enum hevc_nal_type hevc_nal_type_of(uint8_t first_byte)
{
    return (enum hevc_nal_type)(first_byte >> HEVC_NAL_TYPE_SHIFT & HEVC_FU_TYPE);
}

extern const struct payload_format hevc_payload_format;

DECLS_END
#endif
