// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/rtp.h"

#include <assert.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"

enum {
    FIXED_HEADER = 12,
    EXTENSION_HEADER = 4,
    PROFILE_ONE_BYTE = 0xbede, // RFC 8285, 4.2
    EXT_ID_STOP = 15,          // reserved id: processing ends here
    CAPTURE_BYTES = 8,         // the short form of abs-capture-time
    CAPTURE_LONG_BYTES = 16,   // with the capture clock's offset, which is ignored
    ADU_BYTES = 12,
    ADU_LEFT_BYTES = 1, // if it says what follows
    ADU_SLOT_BYTES = 2, // if the slot is another number
    FEEDBACK_BYTES = 3,
    FEEDBACK_LONG_BYTES = 5, // with the flow number
    MADE_BYTES = 2,
    MADE_SLOW = 0x8000,
    ADU_KEY = 0x80,
    ADU_FIRST = 0x40,
    ADU_LAST = 0x20,
    ADU_LEVEL = 0x1f,
    ADU_ON_LOWER = 0x80,
    ADU_SIZE = 7,
};

static size_t adu_bytes(const struct adu_ext *a)
{
    return (size_t)(ADU_BYTES + (a->has_left ? ADU_LEFT_BYTES : 0) +
                    (a->reorder ? ADU_SLOT_BYTES : 0));
}

static size_t encode_adu(const struct adu_ext *a, uint8_t *out)
{
    assert(a->size_id <= ADU_SIZE && a->temporal_id < 16 && a->level <= ADU_LEVEL);
    out[0] = (uint8_t)(RTP_EXT_ADU_ID << 4 | (adu_bytes(a) - 1));
    store_be32(out + 1, a->frame);
    out[5] = (uint8_t)((a->on_lower ? ADU_ON_LOWER : 0) | a->size_id << 4 | a->temporal_id);
    out[6] = (uint8_t)((a->key ? ADU_KEY : 0) | (a->first ? ADU_FIRST : 0) |
                       (a->last ? ADU_LAST : 0) | a->level);
    store_be16(out + 7, (uint16_t)a->depends);
    store_be32(out + 9, a->written_us);
    if (a->has_left)
        out[13] = a->left;
    if (a->reorder)
        store_be16(out + (a->has_left ? 14 : 13), (uint16_t)a->reorder);
    return 1 + adu_bytes(a);
}

static int decode_adu(const uint8_t *data, size_t len, struct rtp_packet *p)
{
    if (len < ADU_BYTES || len > ADU_BYTES + ADU_LEFT_BYTES + ADU_SLOT_BYTES)
        return ERR_MALFORMED;
    struct adu_ext *a = &p->adu;
    a->frame = load_be32(data);
    a->size_id = data[4] >> 4 & ADU_SIZE;
    a->on_lower = data[4] & ADU_ON_LOWER;
    a->temporal_id = data[4] & 15;
    a->key = data[5] & ADU_KEY;
    a->first = data[5] & ADU_FIRST;
    a->last = data[5] & ADU_LAST;
    a->level = data[5] & ADU_LEVEL;
    a->depends = (int16_t)load_be16(data + 6);
    a->written_us = load_be32(data + 8);
    // The four lengths are those with and without each of the two fields.
    a->has_left = (len - ADU_BYTES) & ADU_LEFT_BYTES;
    a->left = a->has_left ? data[ADU_BYTES] : 0;
    a->reorder =
        len >= ADU_BYTES + ADU_SLOT_BYTES ? (int16_t)load_be16(data + len - ADU_SLOT_BYTES) : 0;
    p->has_adu = true;
    if (a->on_lower && (a->key || !a->size_id))
        return ERR_MALFORMED;
    return a->key && (a->depends || a->reorder) ? ERR_MALFORMED : 0;
}

static size_t encode_capture(usec_t wall, uint8_t *out)
{
    out[0] = RTP_EXT_CAPTURE_ID << 4 | (CAPTURE_BYTES - 1);
    store_be64(out + 1, ntp_of_wall(wall));
    return 1 + CAPTURE_BYTES;
}

static int decode_capture(const uint8_t *data, size_t len, struct rtp_packet *p)
{
    if (len != CAPTURE_BYTES && len != CAPTURE_LONG_BYTES)
        return ERR_MALFORMED;
    p->capture_wall = wall_of_ntp(load_be64(data));
    p->has_capture = true;
    return 0;
}

static size_t encode_feedback(const struct feedback_ext *f, uint8_t *out)
{
    assert(f->interval > 0);
    int len = f->has_number ? FEEDBACK_LONG_BYTES : FEEDBACK_BYTES;
    out[0] = (uint8_t)(RTP_EXT_FEEDBACK_ID << 4 | (len - 1));
    store_be16(out + 1, f->interval);
    out[3] = f->packets;
    if (f->has_number)
        store_be16(out + 4, f->number);
    return (size_t)(1 + len);
}

static int decode_feedback(const uint8_t *data, size_t len, struct rtp_packet *p)
{
    if (len != FEEDBACK_BYTES && len != FEEDBACK_LONG_BYTES)
        return ERR_MALFORMED;
    p->feedback.interval = load_be16(data);
    p->feedback.packets = data[2];
    p->feedback.has_number = len == FEEDBACK_LONG_BYTES;
    if (p->feedback.has_number)
        p->feedback.number = load_be16(data + 3);
    p->has_feedback = true;
    return p->feedback.interval ? 0 : ERR_MALFORMED;
}

static size_t encode_made(const struct made_ext *m, uint8_t *out)
{
    assert(m->ms <= RTP_MADE_MAX_MS);
    out[0] = RTP_EXT_MADE_ID << 4 | (MADE_BYTES - 1);
    store_be16(out + 1, (uint16_t)((m->is_slow ? MADE_SLOW : 0) | m->ms));
    return 1 + MADE_BYTES;
}

static int decode_made(const uint8_t *data, size_t len, struct rtp_packet *p)
{
    if (len != MADE_BYTES)
        return ERR_MALFORMED;
    uint16_t value = load_be16(data);
    p->made = (struct made_ext){.ms = value & RTP_MADE_MAX_MS, .is_slow = value & MADE_SLOW};
    p->has_made = true;
    return 0;
}

size_t rtp_header_bytes(const struct rtp_packet *p)
{
    size_t data = 0;
    data += p->has_capture ? 1 + CAPTURE_BYTES : 0;
    data += p->has_adu ? 1 + adu_bytes(&p->adu) : 0;
    if (p->has_feedback)
        data += 1 + (p->feedback.has_number ? FEEDBACK_LONG_BYTES : FEEDBACK_BYTES);
    data += p->has_made ? 1 + MADE_BYTES : 0;
    return data ? FIXED_HEADER + EXTENSION_HEADER + (data + 3) / 4 * 4 : FIXED_HEADER;
}

size_t rtp_encode(const struct rtp_packet *p, uint8_t *out)
{
    assert(p->payload_type < 128);
    bool extended = p->has_adu || p->has_capture || p->has_feedback || p->has_made;
    out[0] = (uint8_t)(2 << 6 | extended << 4);
    out[1] = (uint8_t)(p->marker << 7 | p->payload_type);
    store_be16(out + 2, p->seq);
    store_be32(out + 4, p->timestamp);
    store_be32(out + 8, p->ssrc);
    if (!extended)
        return FIXED_HEADER;
    size_t len = FIXED_HEADER + EXTENSION_HEADER;
    if (p->has_capture)
        len += encode_capture(p->capture_wall, out + len);
    if (p->has_adu)
        len += encode_adu(&p->adu, out + len);
    if (p->has_feedback)
        len += encode_feedback(&p->feedback, out + len);
    if (p->has_made)
        len += encode_made(&p->made, out + len);
    while (len % 4)
        out[len++] = 0;
    store_be16(out + FIXED_HEADER, PROFILE_ONE_BYTE);
    store_be16(out + FIXED_HEADER + 2, (uint16_t)((len - FIXED_HEADER) / 4 - 1));
    return len;
}

// RFC 8285, 4.2: each element begins with id and length in one byte; zero bytes are padding.
static int decode_elements(struct bytes ext, struct rtp_ext_ids ids, struct rtp_packet *p)
{
    while (bytes_left(&ext) > 0) {
        uint8_t head = bytes_u8(&ext);
        int id = head >> 4;
        size_t len = (size_t)(head & 15) + 1;
        if (head == 0)
            continue;
        if (id == EXT_ID_STOP)
            return 0;
        if (bytes_left(&ext) < len)
            return ERR_MALFORMED;
        const uint8_t *data = bytes_take(&ext, len);
        int err = 0;
        if (id == ids.adu && id != 0)
            err = decode_adu(data, len, p);
        else if (id == ids.capture && id != 0)
            err = decode_capture(data, len, p);
        else if (id == ids.feedback && id != 0)
            err = decode_feedback(data, len, p);
        else if (id == ids.made && id != 0)
            err = decode_made(data, len, p);
        if (err)
            return err;
    }
    return 0;
}

static int decode_extension(struct bytes *in, struct rtp_ext_ids ids, struct rtp_packet *p)
{
    if (bytes_left(in) < EXTENSION_HEADER)
        return ERR_MALFORMED;
    uint16_t profile = bytes_u16(in);
    size_t len = (size_t)bytes_u16(in) * 4;
    if (bytes_left(in) < len)
        return ERR_MALFORMED;
    struct bytes ext = bytes_of(bytes_take(in, len), len);
    return profile == PROFILE_ONE_BYTE ? decode_elements(ext, ids, p) : 0;
}

int rtp_decode(const uint8_t *data, size_t len, struct rtp_ext_ids ids, struct rtp_packet *p)
{
    memset(p, 0, sizeof(*p));
    struct bytes in = bytes_of(data, len);
    if (bytes_left(&in) < FIXED_HEADER)
        return ERR_MALFORMED;
    uint8_t flags = bytes_u8(&in);
    uint8_t type = bytes_u8(&in);
    if (flags >> 6 != 2)
        return ERR_MALFORMED;
    p->marker = type >> 7;
    p->payload_type = type & 127;
    p->seq = bytes_u16(&in);
    p->timestamp = bytes_u32(&in);
    p->ssrc = bytes_u32(&in);
    size_t csrc_bytes = (size_t)(flags & 15) * 4;
    if (bytes_left(&in) < csrc_bytes)
        return ERR_MALFORMED;
    bytes_take(&in, csrc_bytes);
    if (flags & 0x10 && decode_extension(&in, ids, p) != 0)
        return ERR_MALFORMED;
    if (flags & 0x20) { // the last byte is the number of padding bytes, including itself
        size_t padding = bytes_left(&in) ? in.end[-1] : 0;
        if (padding == 0 || padding > bytes_left(&in))
            return ERR_MALFORMED;
        in.end -= padding;
    }
    p->payload = in.at;
    p->payload_len = bytes_left(&in);
    return 0;
}

bool rtp_set_flow_number(uint8_t *data, size_t len, struct rtp_ext_ids ids, uint16_t number)
{
    struct rtp_packet p;
    if (rtp_decode(data, len, ids, &p) != 0 || !p.feedback.has_number)
        return false;
    // The packet was decoded: the element is there, and all before it are whole.
    uint8_t *at = data + FIXED_HEADER + (data[0] & 15) * 4 + EXTENSION_HEADER;
    while (*at != (ids.feedback << 4 | (FEEDBACK_LONG_BYTES - 1)))
        at += *at == 0 ? 1 : 2 + (*at & 15);
    store_be16(at + 1 + FEEDBACK_BYTES, number);
    return true;
}

// Seconds from 1900 to 1970 (RFC 5905, figure 4).
#define NTP_UNIX_OFFSET ((int64_t)2208988800)

uint64_t ntp_of_wall(usec_t wall)
{
    int64_t sec = wall / USEC_PER_SEC;
    int64_t us = wall % USEC_PER_SEC;
    if (us < 0) {
        sec--;
        us += USEC_PER_SEC;
    }
    uint64_t fraction = ((uint64_t)us << 32) / (uint64_t)USEC_PER_SEC;
    return (uint64_t)(sec + NTP_UNIX_OFFSET) << 32 | fraction;
}

usec_t wall_of_ntp(uint64_t ntp)
{
    int64_t sec = (int64_t)(ntp >> 32);
    if (sec < (int64_t)1 << 31) // RFC 4330, 3: without the top bit it is era 1, from 2036 on
        sec += (int64_t)1 << 32;
    uint64_t us = ((ntp & UINT32_MAX) * (uint64_t)USEC_PER_SEC + ((uint64_t)1 << 31)) >> 32;
    return (sec - NTP_UNIX_OFFSET) * USEC_PER_SEC + (usec_t)us;
}

uint32_t rtp_ticks_at(usec_t pts, int rate)
{
    // Rounds to the nearest tick: frame times were rounded down to microseconds, and 1/30 s must be
    // 3000 ticks.
    int64_t seconds = pts / USEC_PER_SEC - (pts % USEC_PER_SEC < 0);
    int64_t rest = pts - seconds * USEC_PER_SEC;
    return (uint32_t)(seconds * rate + (rest * rate + USEC_PER_SEC / 2) / USEC_PER_SEC);
}

uint32_t rtp_ticks(usec_t pts)
{
    return rtp_ticks_at(pts, RTP_CLOCK_RATE);
}

usec_t rtp_usec(int64_t ticks, int rate)
{
    __int128 usec = (__int128)ticks * USEC_PER_SEC / rate;
    if (usec > RTP_MAX_USEC)
        return RTP_MAX_USEC;
    return usec < -RTP_MAX_USEC ? -RTP_MAX_USEC : (usec_t)usec;
}
