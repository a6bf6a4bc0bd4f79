// SPDX-License-Identifier: GPL-2.0-or-later
// How a codec's frames lie in RTP payloads, receiver's side: what the depacketiser needs to know of
// h264_payload.h, hevc_payload.h, vp9_payload.h and jpeg_payload.h.
#ifndef WEIR_MEDIA_RTP_PAYLOAD_FORMAT_H
#define WEIR_MEDIA_RTP_PAYLOAD_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/base/decls.h"

DECLS_BEGIN

// What the payloads of one frame gave so far; all zero before the first. A payload that is no
// continuation damages the frame.
struct unpacker {
    uint8_t *out; // borrowed, with room for all bytes; NULL: count only
    size_t bytes;
    bool in_fragments;   // the unit that was begun has no end yet
    uint8_t header;      // of the unit: H.264's NAL unit header, HEVC's type, VP9's layer indices
    uint16_t picture_id; // VP9's; JPEG: the last two bytes
    bool in_unit;        // nal_unpack.h: bytes of the unit have come
    unsigned zeros;      // its zero bytes that wait, as they may belong to a start code
    size_t scan_bytes;   // JPEG: bytes of the scan
    void *memory;        // borrowed; what the format keeps from frame to frame
};

static inline void unpacker_put(struct unpacker *u, const void *data, size_t len)
{
    if (u->out && len)
        memcpy(u->out + u->bytes, data, len);
    u->bytes += len;
}

struct payload_format {
    // Returns true if the payload is well-formed by itself.
    bool (*is_valid)(const uint8_t *data, size_t len);
    // Appends the bytes of a valid payload, the next one of its frame. Returns false if it does not
    // continue the payloads before.
    bool (*unpack)(struct unpacker *u, const uint8_t *data, size_t len);
    // Puts what follows a frame's last payload; NULL: nothing does.
    void (*finish)(struct unpacker *u);
    size_t memory_bytes; // of unpacker.memory, all zero at first
};

DECLS_END
#endif
