// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of a lying origin through the proxy's bridge: what is forwarded can be packetised, is
// within the ladder, and follows what it depends on.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "proxy/bridge/bridge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KNOWN = 1024 }; // the last forwarded frames

static const struct ladder ladder = {.source_fps = {30, 1},
                                     .source_width = 64,
                                     .source_height = 64,
                                     .size_count = 2,
                                     .sizes = {{32, 32, {30, 1}, 2}, {64, 64, {30, 1}, 1}},
                                     .level_count = 3,
                                     .levels = {{0, 0, 1000}, {0, 1, 2000}, {1, 0, 3000}}};

struct sink {
    int count;
    int64_t number[KNOWN];
    int size_id[KNOWN];
};

static void forward(void *ctx, struct coded_frame *f, usec_t now)
{
    (void)now;
    struct sink *s = ctx;
    assert(f->number >= 0 && f->size_id >= 0 && f->size_id < ladder.size_count);
    assert(f->temporal_id >= 0 && f->temporal_id < LEVEL_MAX_LAYERS && f->pts >= 0);
    assert(ladder_has_level(&ladder, f->level) && f->bytes);
    assert(f->nal_count >= 1 && f->nal_count <= CODED_FRAME_MAX_NALS);
    for (int i = 0; i < f->nal_count; i++)
        assert(f->nals[i].len && f->nals[i].offset + (uint64_t)f->nals[i].len <= f->bytes);
    bool is_ready = f->key;
    for (int i = 0; i < KNOWN; i++)
        is_ready |= s->number[i] == f->depends_on && s->size_id[i] == f->size_id;
    assert(is_ready);
    s->number[s->count % KNOWN] = f->number;
    s->size_id[s->count++ % KNOWN] = f->size_id;
}

static void lost(void *ctx, int packets, usec_t now)
{
    (void)ctx, (void)now;
    assert(packets > 0);
}

static void request_key(void *ctx, usec_t now)
{
    (void)ctx, (void)now;
}

static void limit(void *ctx, double bps, usec_t now)
{
    (void)ctx, (void)now;
    assert(bps >= 0);
}

static struct received_frame *frame_of(struct bytes *in)
{
    struct received_frame *f = calloc(1, sizeof(*f));
    assert(f);
    uint8_t flags = bytes_u8(in);
    int64_t number = flags & 1
                         ? (bytes_u32(in) - (INT64_C(1) << 31)) * (INT64_C(1) << (flags >> 2 & 31))
                         : bytes_u8(in);
    int16_t depends = (int16_t)(flags & 2 ? bytes_u16(in) : bytes_u8(in));
    uint8_t ids = bytes_u8(in);
    f->number = number;
    f->depends_on = depends ? number - depends : -1;
    f->key = ids & 1;
    f->size_id = ids >> 1 & 3;
    f->temporal_id = ids >> 3 & 7;
    f->level = ids >> 6;
    f->reorder = flags & 0x80 ? (int8_t)bytes_u8(in) : 0;
    f->first_seq = bytes_u16(in);
    f->packets = 1 + bytes_u8(in);
    f->bytes = bytes_u8(in);
    f->bytes = f->bytes < bytes_left(in) ? f->bytes : bytes_left(in);
    f->data = calloc(1, f->bytes + 64);
    assert(f->data);
    if (f->bytes)
        memcpy(f->data, bytes_take(in, f->bytes), f->bytes);
    return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct bridge_ops ops = {
        .forward = forward, .lost = lost, .request_key = request_key, .limit = limit};
    struct sink sink = {0};
    for (int i = 0; i < KNOWN; i++)
        sink.number[i] = -1;
    struct bridge_config config = {.ladder = &ladder,
                                   .is_annexb = true,
                                   .reflect = REFLECT_LIMIT,
                                   .target = 250 * USEC_PER_MSEC,
                                   .ops = &ops,
                                   .ctx = &sink};
    usec_t now = USEC_PER_SEC;
    struct bridge *b = bridge_new(&config, now);
    assert(b);
    struct bytes in = bytes_of(data, size);
    while (bytes_left(&in) >= 16) {
        uint8_t step = bytes_u8(&in);
        now += step * USEC_PER_MSEC;
        bridge_frame(b, frame_of(&in), now, now);
        if (step & 1)
            bridge_nacked(b, now);
        if (step == 255)
            bridge_restart(b);
        struct reflect_access access = {.waiting = step * USEC_PER_MSEC,
                                        .waiting_bytes = step,
                                        .unsent_bytes = step,
                                        .free = 1};
        bridge_access(b, &access, now);
        if (bridge_next_timeout(b) <= now)
            bridge_on_timeout(b, now);
    }
    struct bridge_stats stats;
    bridge_read(b, &stats);
    assert(stats.held >= 0 && stats.held <= BRIDGE_MAX_HELD);
    bridge_free(b);
    return 0;
}
