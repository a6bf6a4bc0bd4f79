// SPDX-License-Identifier: GPL-2.0-or-later
// Parameter sets of H.264 and H.265 of servers that do not send them with each key frame: they are
// only in the session description (RFC 6184, 8.1: sprop-parameter-sets; RFC 7798, 7.1: sprop-vps,
// sprop-sps and sprop-pps), or were sent once. Frames of other codecs have none.
#ifndef WEIR_MEDIA_DECODE_PARAMETER_SETS_H
#define WEIR_MEDIA_DECODE_PARAMETER_SETS_H

#include "common/base/decls.h"
#include "common/wire/sdp.h"
#include "media/rtp/depacketiser.h"

DECLS_BEGIN

// Converts sprop-parameter-sets (base64 with commas) to Annex B. Returns the length written; 0 if
// `sprop` is malformed or `out` too small.
size_t parameter_sets_decode(const char *sprop, uint8_t *out, size_t cap);
// The reverse: writes "" if the sets do not fit.
void parameter_sets_encode(const uint8_t *sets, size_t len, char *sprop, size_t cap);
// Returns the next NAL unit of `sets` from *at on, which it advances; NULL: there is none.
const uint8_t *parameter_sets_next(const uint8_t *sets, size_t len, size_t *at, size_t *unit_len);
// Returns false if an SPS of `sets` says that pictures are shown in the order in which they come
// (h264_may_reorder, hevc_may_reorder).
bool parameter_sets_may_reorder(enum sdp_codec codec, const uint8_t *sets, size_t len);
// If `f` is a key frame with an SPS and a PPS (H.265: and a VPS), copies its sets to `sets`, which
// hold `len` bytes so far. The stream continues with the new sets. Returns the new length, or `len`
// if nothing changed.
size_t parameter_sets_learn(enum sdp_codec codec, const struct received_frame *f, uint8_t *sets,
                            size_t len, size_t cap);
// Puts `sets` before a key frame that has no SPS. Returns 0, or ERR_NO_MEMORY with `f` unchanged.
int parameter_sets_prepend(enum sdp_codec codec, struct received_frame *f, const uint8_t *sets,
                           size_t len);

DECLS_END
#endif
