// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/ccfb.h"

#include <assert.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/seq.h"
#include "common/wire/rtcp.h"

enum {
    HEADER = 4,
    SSRC = 4,
    BLOCK_HEADER = 8,
    TIMESTAMP = 4,
};

// Returns the bytes of the metrics with their padding: an odd number is followed by 16 bits (RFC
// 8888, 3.1).
static size_t metric_bytes(size_t count)
{
    return (count + count % 2) * 2;
}

size_t ccfb_bytes(size_t count)
{
    return HEADER + SSRC + BLOCK_HEADER + metric_bytes(count) + TIMESTAMP;
}

// Returns the length of the packet at the start of `data`, or ERR_MALFORMED (RFC 3550, 6.4.1).
static int packet_bytes(const uint8_t *data, size_t len)
{
    if (len < HEADER || data[0] >> 6 != 2)
        return ERR_MALFORMED;
    size_t total = HEADER + (size_t)load_be16(data + 2) * 4;
    return total <= len ? (int)total : ERR_MALFORMED;
}

static bool is_padded(const uint8_t *data)
{
    return data[0] & 0x20;
}

static bool is_report(const uint8_t *data)
{
    return data[1] == RTCP_RTPFB && (data[0] & 0x1f) == RTCP_CCFB_FMT;
}

static struct ccfb_metric decode_metric(uint16_t word)
{
    struct ccfb_metric m = {0};
    if (word & 0x8000) { // otherwise the other bits must be ignored
        m.received = true;
        m.ecn = word >> 13 & 3;
        m.offset = word & 0x1fff;
    }
    return m;
}

static uint16_t encode_metric(struct ccfb_metric m)
{
    assert(m.ecn <= 3 && m.offset <= CCFB_NO_OFFSET);
    return m.received ? (uint16_t)(0x8000 | m.ecn << 13 | m.offset) : 0;
}

// Reads one stream's block; skips it if `out` is NULL.
static int decode_block(struct bytes *in, struct ccfb *out)
{
    if (bytes_left(in) < BLOCK_HEADER)
        return ERR_MALFORMED;
    uint32_t media_ssrc = bytes_u32(in);
    uint16_t begin_seq = bytes_u16(in);
    uint16_t count = bytes_u16(in);
    if (bytes_left(in) < metric_bytes(count))
        return ERR_MALFORMED;
    const uint8_t *metrics = bytes_take(in, metric_bytes(count));
    if (!out)
        return 0;
    if (count > CCFB_MAX_PACKETS)
        return ERR_TOO_BIG;
    out->media_ssrc = media_ssrc;
    out->begin_seq = begin_seq;
    out->count = count;
    for (size_t i = 0; i < count; i++)
        out->metric[i] = decode_metric(load_be16(metrics + 2 * i));
    return 0;
}

int ccfb_decode(const uint8_t *data, size_t len, struct ccfb *out)
{
    int total = packet_bytes(data, len);
    if (total < 0)
        return total;
    if (!is_report(data))
        return ERR_UNSUPPORTED;
    size_t end = (size_t)total;
    if (is_padded(data)) { // RFC 3550, 6.4.1
        uint8_t padding = data[end - 1];
        if (padding == 0 || padding % 4 != 0 || padding > end - HEADER)
            return ERR_MALFORMED;
        end -= padding;
    }
    if (end < ccfb_bytes(0))
        return ERR_MALFORMED;
    out->ssrc = load_be32(data + HEADER);
    out->timestamp = load_be32(data + end - TIMESTAMP);
    struct bytes in = bytes_of(data + HEADER + SSRC, end - HEADER - SSRC - TIMESTAMP);
    int err = decode_block(&in, out);
    while (err == 0 && bytes_left(&in) > 0)
        err = decode_block(&in, NULL);
    return err;
}

int ccfb_append(const struct ccfb *f, uint8_t *out, size_t cap, size_t *len)
{
    assert(*len <= cap && f->count <= CCFB_MAX_PACKETS);
    size_t total = ccfb_bytes(f->count);
    if (cap - *len < total)
        return ERR_FULL;
    uint8_t *p = out + *len;
    p[0] = 0x80 | RTCP_CCFB_FMT;
    p[1] = RTCP_RTPFB;
    store_be16(p + 2, (uint16_t)(total / 4 - 1));
    store_be32(p + 4, f->ssrc);
    store_be32(p + 8, f->media_ssrc);
    store_be16(p + 12, f->begin_seq);
    store_be16(p + 14, f->count);
    uint8_t *metrics = p + HEADER + SSRC + BLOCK_HEADER;
    for (size_t i = 0; i < f->count; i++)
        store_be16(metrics + 2 * i, encode_metric(f->metric[i]));
    if (f->count % 2)
        store_be16(metrics + 2 * (size_t)f->count, 0);
    store_be32(p + total - TIMESTAMP, f->timestamp);
    *len += total;
    return 0;
}

int ccfb_next(const uint8_t *data, size_t len, size_t *at, struct ccfb *out)
{
    assert(*at <= len);
    while (*at < len) {
        const uint8_t *packet = data + *at;
        int total = packet_bytes(packet, len - *at);
        if (total < 0) {
            *at = len; // the start of the next packet is unknown
            return total;
        }
        *at += (size_t)total;
        if (is_padded(packet) && *at < len)
            // RFC 3550, 6.4.1: only the last packet of a compound may be padded.
            return ERR_MALFORMED;
        if (!is_report(packet))
            continue;
        int err = ccfb_decode(packet, (size_t)total, out);
        return err == 0 ? 1 : err;
    }
    return 0;
}

uint16_t ccfb_offset(usec_t before)
{
    if (before < 0)
        return CCFB_NO_OFFSET; // RFC 8888, 3.1: "after the time represented by the RTS"
    if (before > 8 * USEC_PER_SEC)
        return CCFB_LONG_AGO;
    usec_t units = (before * 1024 + USEC_PER_SEC / 2) / USEC_PER_SEC;
    return (uint16_t)usec_min(units, CCFB_LONG_AGO);
}

usec_t ccfb_before(uint16_t offset)
{
    assert(offset < CCFB_LONG_AGO);
    return (offset * USEC_PER_SEC + 512) / 1024;
}

// Returns units of 1/65536 s, rounded to the nearest. Seconds are converted separately, so that
// nothing overflows.
static int64_t to_units(usec_t t)
{
    return t / USEC_PER_SEC * 65536 + (t % USEC_PER_SEC * 65536 + USEC_PER_SEC / 2) / USEC_PER_SEC;
}

uint32_t ccfb_timestamp(usec_t t)
{
    assert(t >= 0);
    return (uint32_t)to_units(t);
}

usec_t ccfb_instant(uint32_t timestamp, usec_t near)
{
    assert(near >= 0);
    int64_t units = seq32_extend(to_units(near), timestamp);
    int64_t seconds = units >> 16, rest = units & 0xffff;
    return seconds * USEC_PER_SEC + (rest * USEC_PER_SEC + 32768) / 65536;
}
