// SPDX-License-Identifier: GPL-2.0-or-later
#include "client/rtsp/rtsp_hash.h"

#include <libavutil/md5.h>
#include <libavutil/mem.h>
#include <libavutil/sha.h>

bool rtsp_hash(bool sha256, const void *data, size_t len, uint8_t sum[32])
{
    if (!sha256) {
        av_md5_sum(sum, data, len);
        return true;
    }
    struct AVSHA *sha = av_sha_alloc();
    bool usable = sha && av_sha_init(sha, 256) >= 0;
    if (usable) {
        av_sha_update(sha, data, len);
        av_sha_final(sha, sum);
    }
    av_free(sha);
    return usable;
}
