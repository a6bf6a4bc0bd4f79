// SPDX-License-Identifier: GPL-2.0-or-later
// H.264 parameter sets that stand in the description alone (RFC 6184, 8.1: sprop-parameter-sets).
#ifndef WEIR_MEDIA_PARAMETER_SETS_H
#define WEIR_MEDIA_PARAMETER_SETS_H

#include "media/depacketiser.h"

#ifdef __cplusplus
extern "C" {
#endif

// Base64 with commas as Annex B. The length written; 0: nothing that can be read, or no room.
size_t parameter_sets_decode(const char *sprop, uint8_t *out, size_t cap);
// A key frame without an SPS gets `sets` put before it. 0 or ERR_NO_MEMORY: it stays as it is.
int parameter_sets_prepend(struct received_frame *f, const uint8_t *sets, size_t len);

#ifdef __cplusplus
}
#endif
#endif
