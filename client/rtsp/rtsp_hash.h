// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the hashes of Digest authentication with libavutil.
#ifndef WEIR_CLIENT_RTSP_RTSP_HASH_H
#define WEIR_CLIENT_RTSP_RTSP_HASH_H

#include "common/base/decls.h"
#include "common/protocol/rtsp_auth.h"

DECLS_BEGIN

// Implements rtsp_hash_fn. Returns false if out of memory.
bool rtsp_hash(bool sha256, const void *data, size_t len, uint8_t sum[32]);

DECLS_END
#endif
