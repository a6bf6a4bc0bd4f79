// SPDX-License-Identifier: GPL-2.0-or-later
// RTP payload format for JPEG, receiver's side (RFC 2435). Each payload begins with this header
// (3.1), of types 64 to 127 a restart marker header behind it (3.1.7), and in a picture's first
// packet, of Q 128 to 255, quantization tables (3.1.8):
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   | Type-specific |              Fragment Offset                  |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |      Type     |       Q       |     Width     |     Height    |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// A frame is a JPEG file without Huffman tables: they are those of ITU-T T.81, K.3, which
// libavcodec takes if there are none. The tables of a Q from 128 to 254 are kept for the pictures
// after it. Sizes are multiples of 8, up to 2040.
#ifndef WEIR_MEDIA_RTP_JPEG_PAYLOAD_H
#define WEIR_MEDIA_RTP_JPEG_PAYLOAD_H

#include "common/base/decls.h"
#include "media/rtp/payload_format.h"

DECLS_BEGIN

enum { JPEG_TABLE = 64 }; // values of a quantization table

extern const struct payload_format jpeg_payload_format;

// Returns true if the payload begins a picture whose size the header cannot say: above 2040.
bool jpeg_payload_is_too_large(const uint8_t *data, size_t len);
// Returns true if the payload is the first one of a picture.
bool jpeg_payload_begins(const uint8_t *data, size_t len);

DECLS_END
#endif
