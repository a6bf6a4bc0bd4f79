// SPDX-License-Identifier: GPL-2.0-or-later
// What the fuzz targets of the two ends that send RTSP requests share: how an input is fed, and
// what is asked of each request. An input is what the server sends, except that 0xFF and the byte
// behind it are an event.
#ifndef WEIR_TESTS_FUZZ_RTSP_SESSION_H
#define WEIR_TESTS_FUZZ_RTSP_SESSION_H

#include <assert.h>
#include <string.h>

#include "common/protocol/transport_names.h"
#include "common/wire/rtsp.h"

enum { RTSP_SESSION_MAX = 1 << 16, RTSP_SESSION_EVENT = 0xFF };

struct rtsp_session_ops {
    // Returns how many bytes were used; < 0: the input ends here.
    int (*input)(void *ctx, const uint8_t *data, size_t len);
    void (*settle)(void *ctx);
    void (*happen)(void *ctx, uint8_t event);
};

// Feeds at most RTSP_SESSION_MAX bytes.
static inline void rtsp_session_feed(const uint8_t *data, size_t size,
                                     const struct rtsp_session_ops *ops, void *ctx)
{
    static uint8_t buffer[RTSP_SESSION_MAX];
    size_t held = 0;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && data[i] != RTSP_SESSION_EVENT) {
            buffer[held++] = data[i];
            continue;
        }
        int used = ops->input(ctx, buffer, held);
        if (used < 0)
            return;
        assert(used <= (int)held);
        held -= (size_t)used;
        memmove(buffer, buffer + used, held);
        ops->settle(ctx);
        if (++i < size)
            ops->happen(ctx, data[i]);
        ops->settle(ctx);
    }
}

// What is sent is one message.
static inline void rtsp_session_check(const char *data, size_t len)
{
    static struct rtsp_item item;
    size_t used;
    int err = rtsp_decode((const uint8_t *)data, len, &item, &used);
    assert(err == 0 && used == len && item.kind != RTSP_INTERLEAVED);
    (void)err;
}

// Not a hash: the same length, and different for most texts.
static inline bool rtsp_session_sum(bool sha256, const void *data, size_t len, uint8_t sum[32])
{
    (void)sha256;
    memset(sum, 0, 32);
    for (size_t i = 0; i < len; i++)
        sum[i % 16] = (uint8_t)(sum[i % 16] * 31 + ((const uint8_t *)data)[i]);
    return true;
}

static inline void rtsp_session_transport(struct transport_list *list, const char *text)
{
    strcpy(list->names[list->count++], text);
}

#endif
