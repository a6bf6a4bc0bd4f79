// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/tcp_segment.h"

#include <assert.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"

enum {
    PROTOCOL_TCP = 6,
    IPV4_HEADER = 20,
    IPV6_HEADER = 40,
    TCP_HEADER = 20,
    MAX_OPTIONS = 40,
    CHECKSUM_AT = 16,
    MAX_PACKET = 65535,
    ECN_MASK = 3, // of the traffic class (RFC 3168, 5)
    // Option kinds: RFC 9293, 3.1; RFC 7323, 2.2 and 3.2; RFC 2018, 2 and 3.
    END = 0,
    NOP = 1,
    MSS = 2,
    SCALE = 3,
    SACK_PERMITTED = 4,
    SACK = 5,
    TIMES = 8,
};

// RFC 1071: the one's complement sum of 16-bit words, not folded yet.
static uint64_t sum_of(const uint8_t *p, size_t len)
{
    uint64_t sum = 0;
    for (; len >= 4; p += 4, len -= 4)
        sum += load_be32(p);
    if (len >= 2) {
        sum += load_be16(p);
        p += 2;
        len -= 2;
    }
    return len ? sum + ((uint64_t)p[0] << 8) : sum;
}

static uint16_t folded(uint64_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)sum;
}

// The pseudo-header of RFC 9293, 3.1; for IPv6, of RFC 8200, 8.1.
static uint64_t pseudo_header_sum(const struct tcp_path *path, size_t tcp_len)
{
    size_t n = path->v6 ? 16 : 4;
    return sum_of(path->source.address, n) + sum_of(path->destination.address, n) + PROTOCOL_TCP +
           tcp_len;
}

static enum tcp_sum check_sum(const struct tcp_path *path, const uint8_t *tcp, size_t len)
{
    uint64_t pseudo = pseudo_header_sum(path, len);
    if (folded(pseudo + sum_of(tcp, len)) == 0xffff)
        return TCP_SUM_GOOD;
    return load_be16(tcp + CHECKSUM_AT) == folded(pseudo) ? TCP_SUM_PARTIAL : TCP_SUM_BAD;
}

static int read_sacks(struct bytes b, struct tcp_segment *s)
{
    if (bytes_left(&b) == 0 || bytes_left(&b) % 8 != 0)
        return ERR_MALFORMED;
    for (s->sack_count = 0; bytes_left(&b) > 0; s->sack_count++) {
        uint32_t begin = bytes_u32(&b);
        s->sack[s->sack_count] = (struct tcp_sack){begin, bytes_u32(&b)};
    }
    return 0;
}

// Reads one option's value. The space for options limits the SACK blocks to four.
static int read_option(uint8_t kind, struct bytes b, struct tcp_segment *s)
{
    size_t len = bytes_left(&b);
    switch (kind) {
    case MSS:
        if (len != 2)
            return ERR_MALFORMED;
        s->mss = bytes_u16(&b);
        return 0;
    case SCALE:
        if (len != 1)
            return ERR_MALFORMED;
        s->scale = (int8_t)bytes_u8(&b);
        if (s->scale < 0 || s->scale > TCP_SEGMENT_MAX_SCALE)
            s->scale = TCP_SEGMENT_MAX_SCALE; // RFC 7323, 2.3: "14 instead of the specified value"
        return 0;
    case SACK_PERMITTED:
        s->sack_permitted = true;
        return len == 0 ? 0 : ERR_MALFORMED;
    case SACK:
        return read_sacks(b, s);
    case TIMES:
        if (len != 8)
            return ERR_MALFORMED;
        s->has_times = true;
        s->time = bytes_u32(&b);
        s->time_echo = bytes_u32(&b);
        return 0;
    default:
        return 0;
    }
}

static int read_options(struct bytes b, struct tcp_segment *s)
{
    while (bytes_left(&b) > 0) {
        uint8_t kind = bytes_u8(&b);
        if (kind == END)
            return 0;
        if (kind == NOP)
            continue;
        if (bytes_left(&b) < 1)
            return ERR_MALFORMED;
        size_t len = bytes_u8(&b);
        if (len < 2 || len - 2 > bytes_left(&b))
            return ERR_MALFORMED;
        if (read_option(kind, bytes_of(bytes_take(&b, len - 2), len - 2), s) != 0)
            return ERR_MALFORMED;
    }
    return 0;
}

int tcp_segment_parse(const struct tcp_path *path, const uint8_t *bytes, size_t len,
                      struct tcp_segment *s)
{
    if (len < TCP_HEADER || len > MAX_PACKET)
        return ERR_MALFORMED;
    size_t header = (size_t)(bytes[12] >> 4) * 4;
    if (header < TCP_HEADER || header > len)
        return ERR_MALFORMED;
    struct bytes b = bytes_of(bytes, TCP_HEADER);
    *s = (struct tcp_segment){.path = *path, .scale = TCP_SEGMENT_NO_SCALE};
    s->path.source.port = bytes_u16(&b);
    s->path.destination.port = bytes_u16(&b);
    s->seq = bytes_u32(&b);
    s->ack = bytes_u32(&b);
    s->flags = bytes[13];
    s->window = load_be16(bytes + 14);
    s->data = bytes + header;
    s->len = len - header;
    s->sum = check_sum(path, bytes, len);
    return read_options(bytes_of(bytes + TCP_HEADER, header - TCP_HEADER), s);
}

int tcp_segment_parse_ipv4(const uint8_t *packet, size_t len, struct tcp_segment *s)
{
    if (len < IPV4_HEADER || packet[0] >> 4 != 4 || packet[9] != PROTOCOL_TCP)
        return ERR_MALFORMED;
    size_t header = (size_t)(packet[0] & 15) * 4;
    size_t total = load_be16(packet + 2);
    // An offset, or the flag for more fragments.
    bool is_fragment = (load_be16(packet + 6) & 0x3fff) != 0;
    if (header < IPV4_HEADER || total < header || total > len || is_fragment)
        return ERR_MALFORMED;
    struct tcp_path path = {0};
    memcpy(path.source.address, packet + 12, 4);
    memcpy(path.destination.address, packet + 16, 4);
    int err = tcp_segment_parse(&path, packet + header, total - header, s);
    s->ecn = err ? 0 : packet[1] & ECN_MASK;
    return err;
}

static uint8_t *put_option(uint8_t *p, uint8_t kind, uint8_t len)
{
    p[0] = kind;
    p[1] = len;
    return p + 2;
}

// Writes as many blocks as fit: three next to timestamps (RFC 2018, 3).
static uint8_t *put_sacks(uint8_t *p, const uint8_t *end, const struct tcp_segment *s)
{
    size_t room = ((size_t)(end - p) - 4) / 8;
    size_t count = s->sack_count < room ? s->sack_count : room;
    *p++ = NOP;
    *p++ = NOP;
    p = put_option(p, SACK, (uint8_t)(2 + 8 * count));
    for (size_t i = 0; i < count; i++, p += 8) {
        store_be32(p, s->sack[i].begin);
        store_be32(p + 4, s->sack[i].end);
    }
    return p;
}

// Returns the options' length, a multiple of four. Max before SACK: 4 + 2 + 2 + 10 + 4 = 22 of 40.
static size_t put_options(const struct tcp_segment *s, uint8_t out[MAX_OPTIONS])
{
    uint8_t *p = out;
    if (s->mss) {
        store_be16(put_option(p, MSS, 4), s->mss);
        p += 4;
    }
    if (s->has_times) {
        if (s->sack_permitted) {
            p = put_option(p, SACK_PERMITTED, 2);
        } else {
            *p++ = NOP;
            *p++ = NOP;
        }
        p = put_option(p, TIMES, 10);
        store_be32(p, s->time);
        store_be32(p + 4, s->time_echo);
        p += 8;
    } else if (s->sack_permitted) {
        *p++ = NOP;
        *p++ = NOP;
        p = put_option(p, SACK_PERMITTED, 2);
    }
    if (s->scale != TCP_SEGMENT_NO_SCALE) {
        *p++ = NOP;
        p = put_option(p, SCALE, 3);
        *p++ = (uint8_t)s->scale;
    }
    if (s->sack_count > 0)
        p = put_sacks(p, out + MAX_OPTIONS, s);
    return (size_t)(p - out);
}

static void put_ipv4(const struct tcp_path *path, uint8_t ecn, size_t total, uint8_t *out)
{
    memset(out, 0, IPV4_HEADER);
    out[0] = 4 << 4 | IPV4_HEADER / 4;
    out[1] = ecn;
    store_be16(out + 2, (uint16_t)total);
    store_be16(out + 6, 0x4000); // don't fragment; so the identification may be 0 (RFC 6864, 4.1)
    out[8] = TCP_SEGMENT_TTL;
    out[9] = PROTOCOL_TCP;
    memcpy(out + 12, path->source.address, 4);
    memcpy(out + 16, path->destination.address, 4);
    store_be16(out + 10, (uint16_t)~folded(sum_of(out, IPV4_HEADER)));
}

static void put_ipv6(const struct tcp_path *path, uint8_t ecn, size_t tcp_len, uint8_t *out)
{
    memset(out, 0, 8);
    out[0] = 6 << 4;
    out[1] = (uint8_t)(ecn << 4); // the low bits of the traffic class
    store_be16(out + 4, (uint16_t)tcp_len);
    out[6] = PROTOCOL_TCP;
    out[7] = TCP_SEGMENT_TTL;
    memcpy(out + 8, path->source.address, 16);
    memcpy(out + 24, path->destination.address, 16);
}

int tcp_segment_build(const struct tcp_segment *s, uint8_t *out, size_t cap)
{
    assert(s->ecn <= ECN_MASK && s->sack_count <= TCP_SEGMENT_SACKS &&
           s->scale <= TCP_SEGMENT_MAX_SCALE);
    uint8_t options[MAX_OPTIONS];
    size_t options_len = put_options(s, options);
    size_t ip = s->path.v6 ? IPV6_HEADER : IPV4_HEADER;
    size_t tcp_len = TCP_HEADER + options_len + s->len;
    if (s->len > MAX_PACKET || ip + tcp_len > cap || ip + tcp_len > MAX_PACKET)
        return ERR_TOO_BIG;
    if (s->path.v6)
        put_ipv6(&s->path, s->ecn, tcp_len, out);
    else
        put_ipv4(&s->path, s->ecn, ip + tcp_len, out);
    uint8_t *tcp = out + ip;
    store_be16(tcp, s->path.source.port);
    store_be16(tcp + 2, s->path.destination.port);
    store_be32(tcp + 4, s->seq);
    store_be32(tcp + 8, s->ack);
    tcp[12] = (uint8_t)((TCP_HEADER + options_len) / 4 << 4);
    tcp[13] = s->flags;
    store_be16(tcp + 14, s->window);
    memset(tcp + CHECKSUM_AT, 0, 4); // also clears the urgent pointer
    memcpy(tcp + TCP_HEADER, options, options_len);
    if (s->len > 0)
        memcpy(tcp + TCP_HEADER + options_len, s->data, s->len);
    uint16_t sum = folded(pseudo_header_sum(&s->path, tcp_len) + sum_of(tcp, tcp_len));
    store_be16(tcp + CHECKSUM_AT, (uint16_t)~sum);
    return (int)(ip + tcp_len);
}

static bool same_endpoint(const struct tcp_endpoint *a, const struct tcp_endpoint *b)
{
    return a->port == b->port && memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

bool tcp_path_same(const struct tcp_path *a, const struct tcp_path *b)
{
    return a->v6 == b->v6 && same_endpoint(&a->source, &b->source) &&
           same_endpoint(&a->destination, &b->destination);
}

struct tcp_path tcp_path_reversed(const struct tcp_path *path)
{
    struct tcp_path back = {path->v6, path->destination, path->source};
    return back;
}
