// SPDX-License-Identifier: GPL-2.0-or-later
// The hashes of Digest authentication, by libavutil.
#ifndef WEIR_PLAYER_RTSP_RTSP_HASH_H
#define WEIR_PLAYER_RTSP_RTSP_HASH_H

#include "common/protocol/rtsp_auth.h"

#ifdef __cplusplus
extern "C" {
#endif

// As rtsp_hash_fn says. Returns false if there is no memory.
bool rtsp_hash(bool sha256, const void *data, size_t len, uint8_t sum[32]);

#ifdef __cplusplus
}
#endif
#endif
