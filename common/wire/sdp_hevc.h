// SPDX-License-Identifier: GPL-2.0-or-later
// The description of a third party's H.265 (RFC 7798, 7), as IP cameras have it. Pure.
#ifndef WEIR_WIRE_SDP_HEVC_H
#define WEIR_WIRE_SDP_HEVC_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Where a stream is and when it plays is said of H.265 as of H.264. So for who depacketises H.265
// himself, a description of it becomes one that sdp_decode reads: with "H264/90000" for
// "H265/90000", and without the format's own parameters. Writes it to `out` of at least `len`
// bytes. Returns its length; 0: there is no H.265.
size_t sdp_hevc_rewrite(const char *data, size_t len, char *out);

#ifdef __cplusplus
}
#endif
#endif
