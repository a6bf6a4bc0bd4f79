// SPDX-License-Identifier: GPL-2.0-or-later
// The description of a third party's H.265 (RFC 7798, 7) or JPEG (RFC 2435), as IP cameras have it.
// Pure.
#ifndef WEIR_WIRE_SDP_OTHER_VIDEO_H
#define WEIR_WIRE_SDP_OTHER_VIDEO_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sdp_other_video { SDP_OTHER_HEVC, SDP_OTHER_JPEG };

// A description has the control URLs and the times of these codecs as those of H.264. For a caller
// with a depacketiser of `codec`, this rewrites one so that sdp_decode reads it: with "H264/90000"
// as the codec's name, and without the formats' parameters. JPEG's own payload type, 26, needs no
// name in a description. Writes it to `out`. Returns its length; 0: the codec is not in it, or
// `cap` is too small.
size_t sdp_other_video_rewrite(const char *data, size_t len, enum sdp_other_video codec, char *out,
                               size_t cap);

#ifdef __cplusplus
}
#endif
#endif
