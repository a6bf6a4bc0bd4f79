// SPDX-License-Identifier: GPL-2.0-or-later
// The NAL units of H.264's and HEVC's payloads to Annex B: a start code of four bytes before each
// unit. Some cameras put a piece of their encoder's byte stream into one unit: parameter sets and a
// key picture with start codes between them, or a unit after its start code. No NAL unit has 00 00
// 01 in it (ITU-T H.264, 7.4.1), so such a unit is split there, whatever payload it came in.
#ifndef WEIR_MEDIA_RTP_NAL_UNPACK_H
#define WEIR_MEDIA_RTP_NAL_UNPACK_H

#include "common/base/decls.h"
#include "media/rtp/payload_format.h"

DECLS_BEGIN

// Returns the offset behind the first start code that ends in `data`; 0: there is none. *zeros: the
// zero bytes before `data`, and then at its end; 0 behind a start code.
size_t nal_code_end(unsigned *zeros, const uint8_t *data, size_t len);
// Returns true if the bytes begin with a start code of three or four bytes.
bool nal_is_coded(const uint8_t *data, size_t len);

// A unit comes: its bytes follow in any number of pieces, and then its end.
void nal_begin(struct unpacker *u);
void nal_put(struct unpacker *u, const uint8_t *data, size_t len);
void nal_end(struct unpacker *u);
// Ends a fragmented unit that has no end yet.
void nal_finish(struct unpacker *u);
// Returns true if all bytes are zero: no NAL unit has none (7.4.1).
bool nal_is_padding(const uint8_t *data, size_t len);
static inline void nal_emit(struct unpacker *u, const uint8_t *data, size_t len)
{
    nal_begin(u);
    nal_put(u, data, len);
    nal_end(u);
}

DECLS_END
#endif
