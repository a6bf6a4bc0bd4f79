// SPDX-License-Identifier: GPL-2.0-or-later
// A stream of RTSP, read whole and read as it would arrive, in pieces: both must give the same
// items and the same end. Its header values and bodies go through the parsers for Transport, Range
// and parameters.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/wire/rtsp.h"
#include "common/wire/rtsp_transport.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_within(struct text t, const void *data, size_t size)
{
    const char *from = data;
    return t.len == 0 || (t.at >= from && t.at + t.len <= from + size);
}

static void within(struct text t, const uint8_t *data, size_t size)
{
    assert(is_within(t, data, size));
}

static void check_transport(struct text value)
{
    struct rtsp_transport offers[RTSP_MAX_OFFERS], back[RTSP_MAX_OFFERS];
    int count = rtsp_transport_decode(value, offers);
    assert(count <= RTSP_MAX_OFFERS);
    for (int i = 0; i < count; i++) {
        char out[512];
        int len = rtsp_transport_encode(&offers[i], out, sizeof(out));
        assert(len > 0);
        struct text written = {out, (size_t)len};
        int read = rtsp_transport_decode(written, back);
        assert(read == 1 && strcmp(back[0].weir, offers[i].weir) == 0 &&
               strcmp(back[0].cc, offers[i].cc) == 0 && back[0].ssrc == offers[i].ssrc &&
               back[0].client_port[1] == offers[i].client_port[1] &&
               back[0].interleaved[1] == offers[i].interleaved[1]);
    }
}

static void check_range(struct text value)
{
    struct rtsp_range range;
    if (rtsp_range_decode(value, &range) == 0)
        assert((range.from == -1 || range.from >= 0) && (range.to == -1 || range.to >= 0));
}

static void check_parameters(struct text body)
{
    struct text name, value;
    size_t at = 0, before = 0;
    while (rtsp_parameter_next(body, &at, &name, &value) == 1) {
        assert(at > before && at <= body.len && name.len > 0);
        before = at;
        within(name, (const uint8_t *)body.at, body.len);
        within(value, (const uint8_t *)body.at, body.len);
    }
}

static void check_item(const struct rtsp_item *item, const uint8_t *data, size_t used)
{
    if (item->kind == RTSP_INTERLEAVED) {
        assert(item->data >= data && item->data + item->data_len == data + used);
        return;
    }
    within(item->uri, data, used);
    within(item->reason, data, used);
    within(item->body, data, used);
    for (int i = 0; i < item->header_count; i++) {
        within(item->headers[i].name, data, used);
        assert(is_within(item->headers[i].value, data, used) ||
               is_within(item->headers[i].value, item->unfolded, item->unfolded_len));
        check_transport(item->headers[i].value);
        check_range(item->headers[i].value);
    }
    check_parameters(item->body);
}

// What tells two ways of reading apart: the items, where they ended, and the error at the end.
struct outcome {
    unsigned items;
    size_t consumed;
    uint64_t digest;
    int err;
};

static uint64_t mix(uint64_t digest, uint64_t value)
{
    return (digest ^ value) * 0x100000001b3u;
}

static void consume(const uint8_t *data, size_t size, struct outcome *o)
{
    static struct rtsp_item item;
    size_t used;
    while ((o->err = rtsp_decode(data + o->consumed, size - o->consumed, &item, &used)) == 0) {
        assert(used > 0 && used <= size - o->consumed);
        check_item(&item, data + o->consumed, used);
        o->items++;
        o->consumed += used;
        uint64_t d = mix(o->digest, item.kind);
        d = mix(mix(d, (uint64_t)item.method), (uint64_t)item.status);
        d = mix(mix(d, (uint64_t)item.cseq), (uint64_t)item.header_count);
        o->digest = mix(mix(d, item.body.len), item.data_len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    size_t step = (size_t)data[0] + 1;
    data++;
    size--;
    struct outcome whole = {0}, split = {0};
    consume(data, size, &whole);
    for (size_t fed = 0; fed < size && (split.err == 0 || split.err == ERR_AGAIN);) {
        fed = size - fed < step ? size : fed + step;
        uint8_t *part = malloc(fed + 1); // its own end, so that an overread shows
        assert(part);
        memcpy(part, data, fed);
        part = realloc(part, fed);
        assert(part);
        consume(part, fed, &split);
        free(part);
    }
    if (size == 0)
        split = whole;
    assert(whole.items == split.items && whole.consumed == split.consumed &&
           whole.digest == split.digest && whole.err == split.err);
    assert(rtsp_stray_bytes(data, size, size % 2) <= size);
    struct text all = {(const char *)data, size};
    check_transport(all);
    check_range(all);
    check_parameters(all);
    return 0;
}
