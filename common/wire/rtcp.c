// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/rtcp.h"

#include <assert.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"

enum {
    HEADER = 4,
    SENDER_INFO = 20,
    REPORT_BLOCK = 24,
    SDES_END = 0,
    SDES_CNAME = 1,
    FMT_NACK = 1,  // RTPFB format
    FMT_PLI = 1,   // PSFB format
    FMT_TMMBR = 3, // RTPFB formats
    FMT_TMMBN = 4,
    FMT_APPLICATION = 15, // PSFB format, RFC 4585, 6.4
    RATE_ENTRY = 8,
    MANTISSA_BITS = 17,
    MAX_EXPONENT = 63 - MANTISSA_BITS, // so that the rate fits 63 bits
    REMB_NAME = 0x52454d42,            // "REMB"
    REMB_MANTISSA_BITS = 18,
    REMB_MAX_EXPONENT = 63 - REMB_MANTISSA_BITS,
};

static void decode_reports(struct bytes *in, int count, struct rtcp_item *item)
{
    item->report_count = count;
    for (int i = 0; i < count; i++) {
        struct rtcp_report *r = &item->reports[i];
        r->ssrc = bytes_u32(in);
        uint32_t loss = bytes_u32(in);
        r->fraction_lost = (uint8_t)(loss >> 24);
        r->lost = (int32_t)(loss & 0x7fffff) - (int32_t)(loss & 0x800000);
        r->highest_seq = bytes_u32(in);
        r->jitter = bytes_u32(in);
        r->lsr = bytes_u32(in);
        r->dlsr = bytes_u32(in);
    }
}

static int decode_sr(struct bytes *in, int count, struct rtcp_item *item)
{
    if (bytes_left(in) < 4 + SENDER_INFO + (size_t)count * REPORT_BLOCK)
        return ERR_MALFORMED;
    item->kind = RTCP_IS_SR;
    item->ssrc = bytes_u32(in);
    item->sender.ntp = bytes_u64(in);
    item->sender.rtp_timestamp = bytes_u32(in);
    item->sender.packets = bytes_u32(in);
    item->sender.octets = bytes_u32(in);
    decode_reports(in, count, item);
    return 0;
}

static int decode_rr(struct bytes *in, int count, struct rtcp_item *item)
{
    if (bytes_left(in) < 4 + (size_t)count * REPORT_BLOCK)
        return ERR_MALFORMED;
    item->kind = RTCP_IS_RR;
    item->ssrc = bytes_u32(in);
    decode_reports(in, count, item);
    return 0;
}

// Reads the items of one chunk, up to its terminator and the padding to the next 32-bit boundary
// (RFC 3550, 6.5).
static int decode_sdes_chunk(struct bytes *in, bool keep, struct rtcp_item *item)
{
    const uint8_t *start = in->at;
    for (;;) {
        if (bytes_left(in) < 1)
            return ERR_MALFORMED;
        uint8_t type = bytes_u8(in);
        if (type == SDES_END)
            break;
        if (bytes_left(in) < 1 || bytes_left(in) - 1 < in->at[0])
            return ERR_MALFORMED;
        size_t len = bytes_u8(in);
        const uint8_t *text = bytes_take(in, len);
        if (keep && type == SDES_CNAME) {
            memcpy(item->cname, text, len);
            item->cname[len] = '\0';
        }
    }
    size_t padding = (4 - (size_t)(in->at - start) % 4) % 4;
    if (bytes_left(in) < padding)
        return ERR_MALFORMED;
    bytes_take(in, padding);
    return 0;
}

static int decode_sdes(struct bytes *in, int count, struct rtcp_item *item)
{
    item->kind = RTCP_IS_SDES;
    for (int i = 0; i < count; i++) {
        if (bytes_left(in) < 4)
            return ERR_MALFORMED;
        uint32_t ssrc = bytes_u32(in);
        if (i == 0)
            item->ssrc = ssrc;
        if (decode_sdes_chunk(in, i == 0, item) != 0)
            return ERR_MALFORMED;
    }
    return 0;
}

static int decode_bye(struct bytes *in, int count, struct rtcp_item *item)
{
    if (bytes_left(in) < (size_t)count * 4)
        return ERR_MALFORMED;
    if (count == 0) // "valid, but useless" (RFC 3550, 6.6)
        return 0;
    item->kind = RTCP_IS_BYE;
    item->ssrc = bytes_u32(in);
    bytes_take(in, (size_t)(count - 1) * 4);
    size_t len = bytes_left(in) ? bytes_u8(in) : 0;
    if (len > bytes_left(in)) // it says the end all the same
        return 0;
    memcpy(item->reason, bytes_take(in, len), len);
    item->reason[len] = '\0';
    return 0;
}

// RFC 5104, 4.2.1.1: SSRC, exponent (6 bits), mantissa (17), overhead (9). The SSRC of the media in
// the packet's header is unused. TMMBN may be empty: no limit is in force.
static int decode_max_rate(struct bytes *in, int format, struct rtcp_item *item)
{
    if (bytes_left(in) < RATE_ENTRY) {
        if (format == FMT_TMMBR)
            return ERR_MALFORMED;
        item->kind = RTCP_IS_TMMBN;
        return 0;
    }
    item->media_ssrc = bytes_u32(in);
    uint32_t rate = bytes_u32(in);
    uint32_t exponent = rate >> 26;
    if (exponent > MAX_EXPONENT)
        return ERR_MALFORMED;
    item->kind = format == FMT_TMMBR ? RTCP_IS_TMMBR : RTCP_IS_TMMBN;
    item->max_rate.bps = (uint64_t)(rate >> 9 & 0x1ffff) << exponent;
    item->max_rate.overhead = rate & 0x1ff;
    return 0;
}

// draft-alvestrand-rmcat-remb-03, 2.2: name, number of SSRCs (8 bits), exponent (6), mantissa (18),
// SSRCs. The SSRC of the media in the packet's header is unused. Feedback of other names passes.
static int decode_remb(struct bytes *in, struct rtcp_item *item)
{
    if (bytes_left(in) < 4 || bytes_u32(in) != REMB_NAME)
        return 0;
    if (bytes_left(in) < 4)
        return ERR_MALFORMED;
    uint32_t rate = bytes_u32(in);
    uint32_t count = rate >> 24;
    uint32_t exponent = rate >> REMB_MANTISSA_BITS & 63;
    if (exponent > REMB_MAX_EXPONENT || bytes_left(in) < 4 * count)
        return ERR_MALFORMED;
    item->kind = RTCP_IS_REMB;
    item->max_rate.bps = (uint64_t)(rate & ((1u << REMB_MANTISSA_BITS) - 1)) << exponent;
    item->ssrc_count = count < RTCP_MAX_SSRCS ? (int)count : RTCP_MAX_SSRCS;
    for (int i = 0; i < item->ssrc_count; i++)
        item->ssrcs[i] = bytes_u32(in);
    return 0;
}

// RFC 4585, 6.1: both SSRCs, then data that depends on the format.
static int decode_feedback(struct bytes *in, int type, int format, struct rtcp_item *item)
{
    if (bytes_left(in) < 8)
        return ERR_MALFORMED;
    item->ssrc = bytes_u32(in);
    item->media_ssrc = bytes_u32(in);
    if (type == RTCP_PSFB) {
        if (format == FMT_PLI)
            item->kind = RTCP_IS_PLI;
        return format == FMT_APPLICATION ? decode_remb(in, item) : 0;
    }
    if (format == FMT_TMMBR || format == FMT_TMMBN)
        return decode_max_rate(in, format, item);
    if (format != FMT_NACK)
        return 0;
    if (bytes_left(in) < 4)
        return ERR_MALFORMED; // RFC 4585, 6.2.1: at least one entry
    item->kind = RTCP_IS_NACK;
    while (bytes_left(in) >= 4 && item->nack_count < RTCP_MAX_NACKS) {
        struct rtcp_nack *n = &item->nacks[item->nack_count++];
        n->pid = bytes_u16(in);
        n->blp = bytes_u16(in);
    }
    return 0;
}

int rtcp_next(const uint8_t *data, size_t len, size_t *at, struct rtcp_item *item)
{
    memset(item, 0, sizeof(*item));
    item->kind = RTCP_IS_OTHER;
    assert(*at <= len);
    struct bytes in = bytes_of(bytes_after(data, *at), len - *at);
    if (bytes_left(&in) == 0)
        return 0;
    if (bytes_left(&in) < HEADER)
        return ERR_MALFORMED;
    uint8_t flags = bytes_u8(&in);
    int type = bytes_u8(&in);
    int count = flags & 31;
    size_t body = (size_t)bytes_u16(&in) * 4;
    if (flags >> 6 != 2 || bytes_left(&in) < body)
        return ERR_MALFORMED;
    bool last = bytes_left(&in) == body;
    in.end = in.at + body;
    if (flags & 0x20) { // RFC 3550, 6.4.1: padding only in the last packet, a multiple of four
        size_t padding = body ? in.end[-1] : 0;
        if (!last || padding == 0 || padding % 4 != 0 || padding > body)
            return ERR_MALFORMED;
        in.end -= padding;
    }
    int err = 0;
    if (type == RTCP_SR)
        err = decode_sr(&in, count, item);
    else if (type == RTCP_RR)
        err = decode_rr(&in, count, item);
    else if (type == RTCP_SDES)
        err = decode_sdes(&in, count, item);
    else if (type == RTCP_BYE)
        err = decode_bye(&in, count, item);
    else if (type == RTCP_RTPFB || type == RTCP_PSFB)
        err = decode_feedback(&in, type, count, item);
    if (err)
        return err;
    *at += HEADER + body;
    return 1;
}

static void encode_report(const struct rtcp_report *r, uint8_t *out)
{
    int32_t lost = r->lost > 0x7fffff ? 0x7fffff : r->lost < -0x800000 ? -0x800000 : r->lost;
    store_be32(out, r->ssrc);
    store_be32(out + 4, (uint32_t)r->fraction_lost << 24 | ((uint32_t)lost & 0xffffff));
    store_be32(out + 8, r->highest_seq);
    store_be32(out + 12, r->jitter);
    store_be32(out + 16, r->lsr);
    store_be32(out + 20, r->dlsr);
}

// Returns the bytes of the packet without its header, a multiple of four.
static size_t body_bytes(const struct rtcp_item *item)
{
    size_t reports = (size_t)item->report_count * REPORT_BLOCK;
    switch (item->kind) {
    case RTCP_IS_SR:
        return 4 + SENDER_INFO + reports;
    case RTCP_IS_RR:
        return 4 + reports;
    case RTCP_IS_SDES: // SSRC, type, length, text, at least one zero
        return 4 + (2 + strlen(item->cname)) / 4 * 4 + 4;
    case RTCP_IS_BYE: // SSRC; length and text, up to a multiple of four
        return 4 + (*item->reason ? (1 + strlen(item->reason) + 3) / 4 * 4 : 0);
    case RTCP_IS_NACK:
        return 8 + (size_t)item->nack_count * 4;
    case RTCP_IS_PLI:
        return 8;
    case RTCP_IS_TMMBR:
    case RTCP_IS_TMMBN:
        return 8 + RATE_ENTRY;
    case RTCP_IS_REMB:
        return 16 + (size_t)item->ssrc_count * 4;
    case RTCP_IS_OTHER:
        break;
    }
    assert(!"a kind that is not sent");
    return 0;
}

// Returns the exponent of `*rate`, which becomes a mantissa of at most `bits` bits.
static uint32_t take_exponent(uint64_t *rate, int bits)
{
    uint32_t exponent = 0;
    for (; *rate >> bits; *rate >>= 1)
        exponent++;
    assert(exponent <= 63 - (uint32_t)bits);
    return exponent;
}

static void encode_max_rate(const struct rtcp_item *item, uint8_t *out)
{
    uint64_t mantissa = item->max_rate.bps;
    uint32_t exponent = take_exponent(&mantissa, MANTISSA_BITS);
    assert(item->max_rate.overhead <= 0x1ff);
    store_be32(out + 4, item->media_ssrc);
    store_be32(out + 8, exponent << 26 | (uint32_t)mantissa << 9 | item->max_rate.overhead);
}

static void encode_remb(const struct rtcp_item *item, uint8_t *out)
{
    uint64_t mantissa = item->max_rate.bps;
    uint32_t exponent = take_exponent(&mantissa, REMB_MANTISSA_BITS);
    store_be32(out + 4, REMB_NAME);
    store_be32(out + 8, (uint32_t)item->ssrc_count << 24 | exponent << REMB_MANTISSA_BITS |
                            (uint32_t)mantissa);
    for (int i = 0; i < item->ssrc_count; i++)
        store_be32(out + 12 + 4 * i, item->ssrcs[i]);
}

static void encode_body(const struct rtcp_item *item, uint8_t *out)
{
    store_be32(out, item->ssrc);
    out += 4;
    if (item->kind == RTCP_IS_SR) {
        store_be64(out, item->sender.ntp);
        store_be32(out + 8, item->sender.rtp_timestamp);
        store_be32(out + 12, item->sender.packets);
        store_be32(out + 16, item->sender.octets);
        out += SENDER_INFO;
    }
    if (item->kind == RTCP_IS_SR || item->kind == RTCP_IS_RR) {
        for (int i = 0; i < item->report_count; i++)
            encode_report(&item->reports[i], out + i * REPORT_BLOCK);
    } else if (item->kind == RTCP_IS_SDES) {
        size_t len = strlen(item->cname);
        out[0] = SDES_CNAME;
        out[1] = (uint8_t)len;
        memcpy(out + 2, item->cname, len);
    } else if (item->kind == RTCP_IS_BYE && *item->reason) {
        out[0] = (uint8_t)strlen(item->reason);
        memcpy(out + 1, item->reason, out[0]);
    } else if (item->kind == RTCP_IS_NACK || item->kind == RTCP_IS_PLI) {
        store_be32(out, item->media_ssrc);
        for (int i = 0; item->kind == RTCP_IS_NACK && i < item->nack_count; i++) {
            store_be16(out + 4 + i * 4, item->nacks[i].pid);
            store_be16(out + 6 + i * 4, item->nacks[i].blp);
        }
    } else if (item->kind == RTCP_IS_TMMBR || item->kind == RTCP_IS_TMMBN) {
        encode_max_rate(item, out);
    } else if (item->kind == RTCP_IS_REMB) {
        encode_remb(item, out);
    }
}

int rtcp_append(const struct rtcp_item *item, uint8_t *out, size_t cap, size_t *len)
{
    static const struct {
        uint8_t type;
        uint8_t count; // number of sources, or the format; reports are added to it
    } heads[] = {
        [RTCP_IS_SR] = {RTCP_SR, 0},
        [RTCP_IS_RR] = {RTCP_RR, 0},
        [RTCP_IS_SDES] = {RTCP_SDES, 1},
        [RTCP_IS_BYE] = {RTCP_BYE, 1},
        [RTCP_IS_NACK] = {RTCP_RTPFB, FMT_NACK},
        [RTCP_IS_PLI] = {RTCP_PSFB, FMT_PLI},
        [RTCP_IS_TMMBR] = {RTCP_RTPFB, FMT_TMMBR},
        [RTCP_IS_TMMBN] = {RTCP_RTPFB, FMT_TMMBN},
        [RTCP_IS_REMB] = {RTCP_PSFB, FMT_APPLICATION},
    };
    assert(item->report_count >= 0 && item->report_count <= RTCP_MAX_REPORTS);
    assert(item->nack_count >= (item->kind == RTCP_IS_NACK) && item->nack_count <= RTCP_MAX_NACKS);
    assert(item->ssrc_count >= 0 && item->ssrc_count <= RTCP_MAX_SSRCS);
    size_t body = body_bytes(item);
    if (cap < *len || cap - *len < HEADER + body)
        return ERR_FULL;
    uint8_t *p = out + *len;
    memset(p, 0, HEADER + body);
    bool reports = item->kind == RTCP_IS_SR || item->kind == RTCP_IS_RR;
    p[0] = (uint8_t)(2 << 6 | heads[item->kind].count | (reports ? item->report_count : 0));
    p[1] = heads[item->kind].type;
    store_be16(p + 2, (uint16_t)(body / 4));
    encode_body(item, p + HEADER);
    *len += HEADER + body;
    return 0;
}

bool rtcp_is(const uint8_t *data, size_t len)
{
    // RFC 5761, 4: RTP payload types 64-95 are unused, so 192-223 in the second byte is RTCP.
    return len >= 2 && data[0] >> 6 == 2 && data[1] >= 192 && data[1] <= 223;
}
