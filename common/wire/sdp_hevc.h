// SPDX-License-Identifier: GPL-2.0-or-later
// The description of a third party's H.265 (RFC 7798, 7), as IP cameras have it. Pure.
#ifndef WEIR_WIRE_SDP_HEVC_H
#define WEIR_WIRE_SDP_HEVC_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// A description has the control URLs and the times of H.265 as those of H.264. For a caller with a
// depacketiser of H.265, this rewrites one so that sdp_decode reads it: with "H264/90000" for
// "H265/90000", and without the formats' parameters. Writes it to `out` of at least `len` bytes.
// Returns its length; 0: there is no H.265.
size_t sdp_hevc_rewrite(const char *data, size_t len, char *out);

#ifdef __cplusplus
}
#endif
#endif
