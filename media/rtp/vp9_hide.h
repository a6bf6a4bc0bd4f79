// SPDX-License-Identifier: GPL-2.0-or-later
// Hides a VP9 frame: the same frame, with show_frame = 0 (VP9 Bitstream & Decoding Process
// Specification, 6.2 and 7.2), so that decoders decode it and show nothing.
//
// The frames of a picture of several sizes are all shown ones. In a superframe libvpx outputs the
// last of them, but libavcodec each, one after the other. With all but the last one hidden, every
// player shows the largest size only.
//
// A hidden frame is decoded to the same picture. Later frames do not depend on show_frame if they
// are error resilient (UsePrevFrameMvs, 7.2), as those of vp9_encoder.h are. Pure.
#ifndef WEIR_MEDIA_RTP_VP9_HIDE_H
#define WEIR_MEDIA_RTP_VP9_HIDE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

// Writes the frame of `len` bytes hidden to `out`, which has room for len + 1 bytes. `width`: of
// its picture, for a frame whose header refers to another frame's. Returns the length, len or
// len + 1; ERR_MALFORMED; ERR_UNSUPPORTED: another profile than 0, a frame that shows an earlier
// one, or one that is not error resilient.
int vp9_hide(const uint8_t *frame, size_t len, int width, uint8_t *out);

DECLS_END
#endif
