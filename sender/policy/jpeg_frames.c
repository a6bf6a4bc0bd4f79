// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/jpeg_frames.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"

enum {
    HEADER = 8,
    RESTART_HEADER = 4,
    TABLES_HEADER = 4,
    TABLE = 64, // bytes
    WITH_RESTARTS = 64,
    MAX_HEAD = 2 + 2 * (4 + 1 + TABLE) + 19 + 6 + 14, // of the file that head_write writes
};

// ITU-T T.81, tables K.1 and K.2, in zigzag order.
static const uint8_t luminance[TABLE] = {
    16, 11, 12,  14,  12,  10, 16, 14,  13,  14,  18,  17,  16, 19,  24,  40,
    26, 24, 22,  22,  24,  49, 35, 37,  29,  40,  58,  51,  61, 60,  57,  51,
    56, 55, 64,  72,  92,  78, 64, 68,  87,  69,  55,  56,  80, 109, 81,  87,
    95, 98, 103, 104, 103, 62, 77, 113, 121, 112, 100, 120, 92, 101, 103, 99};
static const uint8_t chrominance[] = {17, 18, 18, 24, 21, 24, 47, 26, 26, 47, 99, 66, 56, 66};
enum { CHROMINANCE_REST = 99 };

struct jpeg_header {
    uint32_t offset;
    int type, q;
    int width, height;     // pixels
    unsigned restart;      // interval; 0: none
    const uint8_t *tables; // JPEG_TABLES bytes; NULL: there are none
};

void jpeg_frames_destroy(struct jpeg_frames *j)
{
    free(j->data);
    *j = (struct jpeg_frames){0};
}

static bool add(struct jpeg_frames *j, const uint8_t *data, size_t len)
{
    if (j->bytes + len > JPEG_MAX_BYTES)
        return false;
    if (j->bytes + len > j->room) {
        size_t room = 2 * (j->bytes + len);
        uint8_t *larger = realloc(j->data, room);
        if (!larger)
            return false;
        j->data = larger;
        j->room = room;
    }
    memcpy(j->data + j->bytes, data, len);
    j->bytes += len;
    return true;
}

// Writes the tables of Q 1 to 99 (4.2).
static void scale_tables(int q, uint8_t out[JPEG_TABLES])
{
    int factor = q < 50 ? 5000 / q : 200 - 2 * q;
    for (size_t i = 0; i < JPEG_TABLES; i++) {
        int base = i < TABLE                         ? luminance[i]
                   : i - TABLE < sizeof(chrominance) ? chrominance[i - TABLE]
                                                     : CHROMINANCE_REST;
        int value = (base * factor + 50) / 100;
        out[i] = (uint8_t)(value < 1 ? 1 : value > 255 ? 255 : value);
    }
}

// Writes the head of a JPEG file. Returns its length.
static size_t head_write(const struct jpeg_header *h, const uint8_t tables[JPEG_TABLES],
                         uint8_t out[MAX_HEAD])
{
    // Type 0 has 4:2:2, type 1 4:2:0.
    const uint8_t sampling = h->type % WITH_RESTARTS == 0 ? 0x21 : 0x22;
    const uint8_t frame[] = {0xff, 0xc0, 0, 17, 8, (uint8_t)(h->height >> 8), (uint8_t)h->height,
                             (uint8_t)(h->width >> 8), (uint8_t)h->width, 3,
                             // Per component: its number, sampling, quantization table.
                             1, sampling, 0, 2, 0x11, 1, 3, 0x11, 1};
    static const uint8_t scan[] = {0xff, 0xda, 0, 12, 3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0};
    const uint8_t restart[] = {0xff, 0xdd, 0, 4, (uint8_t)(h->restart >> 8), (uint8_t)h->restart};
    size_t at = 0;
    out[at++] = 0xff;
    out[at++] = 0xd8;
    for (int i = 0; i < 2; i++) {
        const uint8_t head[] = {0xff, 0xdb, 0, 3 + TABLE, (uint8_t)i};
        memcpy(out + at, head, sizeof(head));
        memcpy(out + at + sizeof(head), tables + (size_t)i * TABLE, TABLE);
        at += sizeof(head) + TABLE;
    }
    memcpy(out + at, frame, sizeof(frame));
    at += sizeof(frame);
    if (h->restart) {
        memcpy(out + at, restart, sizeof(restart));
        at += sizeof(restart);
    }
    memcpy(out + at, scan, sizeof(scan));
    return at + sizeof(scan);
}

// Reads the quantization tables' header and the tables. Returns false if they are malformed, or not
// of 8 bits.
static bool read_tables(struct bytes *in, struct jpeg_header *h)
{
    if (bytes_left(in) < TABLES_HEADER)
        return false;
    (void)bytes_u8(in);
    int precision = bytes_u8(in);
    size_t len = bytes_u16(in);
    if (len == 0)
        return true;
    if (len != JPEG_TABLES || precision || bytes_left(in) < len)
        return false;
    h->tables = bytes_take(in, len);
    return true;
}

// Leaves the part of the scan in `in`. Returns false if the payload is malformed, or of a type that
// is not defined.
static bool read_header(struct bytes *in, struct jpeg_header *h)
{
    *h = (struct jpeg_header){0};
    if (bytes_left(in) < HEADER)
        return false;
    h->offset = bytes_u32(in) & 0xffffff;
    h->type = bytes_u8(in);
    h->q = bytes_u8(in);
    h->width = 8 * bytes_u8(in);
    h->height = 8 * bytes_u8(in);
    if (h->type >= 2 * WITH_RESTARTS || h->type % WITH_RESTARTS > 1 || h->q == 0 ||
        (h->q > 99 && h->q < JPEG_FIRST_OWN_Q))
        return false;
    if (h->type >= WITH_RESTARTS) {
        if (bytes_left(in) < RESTART_HEADER)
            return false;
        h->restart = bytes_u16(in);
        (void)bytes_u16(in);
    }
    return h->offset || h->q < JPEG_FIRST_OWN_Q || read_tables(in, h);
}

// Returns false if the tables are not known.
static bool find_tables(struct jpeg_frames *j, const struct jpeg_header *h,
                        uint8_t out[JPEG_TABLES])
{
    if (h->q < JPEG_FIRST_OWN_Q) {
        scale_tables(h->q, out);
        return true;
    }
    bool is_kept = h->q < JPEG_UNKEPT_Q;
    int at = h->q - JPEG_FIRST_OWN_Q;
    if (h->tables && is_kept) {
        memcpy(j->own[at].tables, h->tables, JPEG_TABLES);
        j->own[at].is_known = true;
    }
    if (!h->tables && !(is_kept && j->own[at].is_known))
        return false;
    memcpy(out, h->tables ? h->tables : j->own[at].tables, JPEG_TABLES);
    return true;
}

static bool begin(struct jpeg_frames *j, const struct jpeg_header *h, uint32_t timestamp)
{
    uint8_t tables[JPEG_TABLES], head[MAX_HEAD];
    j->bytes = j->have = 0;
    j->timestamp = timestamp;
    j->is_too_large = !h->width || !h->height;
    return !j->is_too_large && find_tables(j, h, tables) &&
           add(j, head, head_write(h, tables, head));
}

bool jpeg_frames_push(struct jpeg_frames *j, const struct rtp_packet *p)
{
    static const uint8_t end[] = {0xff, 0xd9};
    struct bytes in = bytes_of(p->payload, p->payload_len);
    struct jpeg_header h;
    bool is_next = p->seq == j->next_seq && p->timestamp == j->timestamp;
    j->next_seq = (uint16_t)(p->seq + 1);
    bool is_whole = read_header(&in, &h);
    if (is_whole && h.offset == 0)
        j->is_open = begin(j, &h, p->timestamp);
    else
        j->is_open &= is_whole && is_next && h.offset == j->have;
    size_t len = bytes_left(&in);
    j->is_open = j->is_open && add(j, bytes_take(&in, len), len);
    j->have += len;
    if (!j->is_open || !p->marker)
        return false;
    j->is_open = false;
    bool ends = j->bytes >= 2 && memcmp(j->data + j->bytes - 2, end, 2) == 0;
    return j->have > 0 && (ends || add(j, end, sizeof(end)));
}
