// SPDX-License-Identifier: GPL-2.0-or-later
// The small part of VP9's syntax that Weir reads without a codec: the superframe index (VP9
// Bitstream & Decoding Process Specification, annex B). A superframe has the frames of one picture,
// one a spatial layer, and then an index of their lengths.
#ifndef WEIR_MEDIA_RTP_VP9_H
#define WEIR_MEDIA_RTP_VP9_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "media/rtp/packetiser.h"

DECLS_BEGIN

enum {
    VP9_MAX_PIECES = 8,                     // frames of a superframe
    VP9_MAX_INDEX = 2 + 4 * VP9_MAX_PIECES, // bytes
};

// Finds the frames of a superframe. Bytes without an index are one frame. Returns their number, 1
// .. VP9_MAX_PIECES; ERR_MALFORMED if there are no bytes, or if the lengths in the index are not
// those of all bytes before it.
int vp9_split(const uint8_t *data, size_t len, struct nal pieces[VP9_MAX_PIECES]);

// Writes the index that makes a superframe of frames of these lengths (> 0) in front of it. count:
// 1 .. VP9_MAX_PIECES. Returns its length, at most VP9_MAX_INDEX.
size_t vp9_write_index(const uint32_t *lengths, int count, uint8_t *out);

DECLS_END
#endif
