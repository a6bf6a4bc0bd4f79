// SPDX-License-Identifier: GPL-2.0-or-later
// H.264 parameter sets that do not come with each key frame: they stand in the description alone
// (RFC 6184, 8.1: sprop-parameter-sets), or came once.
#ifndef WEIR_MEDIA_DECODE_PARAMETER_SETS_H
#define WEIR_MEDIA_DECODE_PARAMETER_SETS_H

#include "media/rtp/depacketiser.h"

#ifdef __cplusplus
extern "C" {
#endif

// Base64 with commas as Annex B. The length written; 0: nothing that can be read, or no room.
size_t parameter_sets_decode(const char *sprop, uint8_t *out, size_t cap);
// Those of a key frame that has both kinds take the place of `sets`, of which there are `len`
// bytes: the stream goes on with them. The length by now; `len` where it stays as it is.
size_t parameter_sets_learn(const struct received_frame *f, uint8_t *sets, size_t len, size_t cap);
// A key frame without an SPS gets `sets` put before it. 0 or ERR_NO_MEMORY: it stays as it is.
int parameter_sets_prepend(struct received_frame *f, const uint8_t *sets, size_t len);

#ifdef __cplusplus
}
#endif
#endif
