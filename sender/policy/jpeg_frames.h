// SPDX-License-Identifier: GPL-2.0-or-later
// RTP packets of a camera's JPEG (RFC 2435) to pictures. Each payload begins with this header
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
// A picture is a JPEG file without Huffman tables: they are those of ITU-T T.81, K.3, which
// libavcodec takes if there are none. Packets come in order, as over TCP; a picture that lacks one,
// or is longer than JPEG_MAX_BYTES, is dropped. Sizes are multiples of 8, up to 2040. Pure.
#ifndef WEIR_SENDER_POLICY_JPEG_FRAMES_H
#define WEIR_SENDER_POLICY_JPEG_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/rtp.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    JPEG_MAX_BYTES = 8 << 20,
    JPEG_TABLE = 64,        // values of a quantization table
    JPEG_FIRST_OWN_Q = 128, // from there on the tables are the camera's
    JPEG_UNKEPT_Q = 255,    // its tables are in each picture
};

struct jpeg_tables {
    int count; // 1: of all components; 2: of luminance and of chrominance; 0: none
    uint16_t of[2][JPEG_TABLE];
};

struct jpeg_frames { // all zero at first
    uint8_t *data;   // owned; the picture
    size_t bytes, room;
    uint32_t timestamp; // of the picture
    size_t have;        // bytes of its scan so far
    bool is_open;       // packets of it have come, and none is missing
    bool is_too_large;  // a picture's size is 0: above 2040
    uint16_t next_seq;
    struct jpeg_tables own[JPEG_UNKEPT_Q - JPEG_FIRST_OWN_Q]; // the last ones, by Q
};

void jpeg_frames_destroy(struct jpeg_frames *j);
// Takes a packet. Returns true if that completes a picture: `data`, `bytes` and `timestamp` are
// its, until the next call.
bool jpeg_frames_push(struct jpeg_frames *j, const struct rtp_packet *p);

#ifdef __cplusplus
}
#endif
#endif
