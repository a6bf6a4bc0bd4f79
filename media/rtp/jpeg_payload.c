// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/jpeg_payload.h"

#include "common/base/bytes.h"

enum {
    HEADER = 8,
    RESTART_HEADER = 4,
    TABLES_HEADER = 4,
    WITH_RESTARTS = 64,
    FIRST_OWN_Q = 128, // from there on the tables are the camera's
    UNKEPT_Q = 255,    // its tables are in each picture
    END = 0xffd9,      // the last bytes of a file
    MAX_HEAD = 2 + 2 * (4 + 1 + 2 * JPEG_TABLE) + 19 + 6 + 14, // of the file that head_write writes
};

// ITU-T T.81, tables K.1 and K.2, in zigzag order.
static const uint8_t luminance[JPEG_TABLE] = {
    16, 11, 12,  14,  12,  10, 16, 14,  13,  14,  18,  17,  16, 19,  24,  40,
    26, 24, 22,  22,  24,  49, 35, 37,  29,  40,  58,  51,  61, 60,  57,  51,
    56, 55, 64,  72,  92,  78, 64, 68,  87,  69,  55,  56,  80, 109, 81,  87,
    95, 98, 103, 104, 103, 62, 77, 113, 121, 112, 100, 120, 92, 101, 103, 99};
static const uint8_t chrominance[] = {17, 18, 18, 24, 21, 24, 47, 26, 26, 47, 99, 66, 56, 66};
enum { CHROMINANCE_REST = 99 };

struct jpeg_tables {
    int count; // 1: of all components; 2: of luminance and of chrominance; 0: none
    uint16_t of[2][JPEG_TABLE];
};

struct memory {
    struct jpeg_tables own[UNKEPT_Q - FIRST_OWN_Q]; // the last ones, by Q
};

struct jpeg_header {
    uint32_t offset;
    int type, q;
    int width, height;         // pixels
    unsigned restart;          // interval; 0: none
    struct jpeg_tables tables; // of this packet; none: those that came with the same Q
};

// Writes the tables of Q 1 to 99 (4.2).
static void scale_tables(int q, struct jpeg_tables *out)
{
    int factor = q < 50 ? 5000 / q : 200 - 2 * q;
    out->count = 2;
    for (size_t i = 0; i < 2 * JPEG_TABLE; i++) {
        size_t at = i % JPEG_TABLE;
        int base = i < JPEG_TABLE             ? luminance[at]
                   : at < sizeof(chrominance) ? chrominance[at]
                                              : CHROMINANCE_REST;
        int value = (base * factor + 50) / 100;
        out->of[i / JPEG_TABLE][at] = (uint16_t)(value < 1 ? 1 : value > 255 ? 255 : value);
    }
}

// Writes a segment DQT (ITU-T T.81, B.2.4.1): of 8 bits if each value fits. Returns its length.
static size_t table_write(const uint16_t table[JPEG_TABLE], int number, uint8_t *out)
{
    bool is_wide = false;
    for (int i = 0; i < JPEG_TABLE; i++)
        is_wide |= table[i] > 255;
    size_t at = 0;
    out[at++] = 0xff;
    out[at++] = 0xdb;
    out[at++] = 0;
    out[at++] = (uint8_t)(3 + JPEG_TABLE * (1 + is_wide));
    out[at++] = (uint8_t)(is_wide << 4 | number);
    for (int i = 0; i < JPEG_TABLE; i++) {
        if (is_wide)
            out[at++] = (uint8_t)(table[i] >> 8);
        out[at++] = (uint8_t)table[i];
    }
    return at;
}

// Writes the head of a JPEG file. Returns its length.
static size_t head_write(const struct jpeg_header *h, const struct jpeg_tables *tables,
                         uint8_t out[MAX_HEAD])
{
    const uint8_t colour = tables->count > 1; // number of the table of both colour components
    // Type 0 has 4:2:2, type 1 4:2:0.
    const uint8_t sampling = h->type % WITH_RESTARTS == 0 ? 0x21 : 0x22;
    const uint8_t frame[] = {0xff, 0xc0, 0, 17, 8, (uint8_t)(h->height >> 8), (uint8_t)h->height,
                             (uint8_t)(h->width >> 8), (uint8_t)h->width, 3,
                             // Per component: its number, sampling, quantization table.
                             1, sampling, 0, 2, 0x11, colour, 3, 0x11, colour};
    static const uint8_t scan[] = {0xff, 0xda, 0, 12, 3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0};
    const uint8_t restart[] = {0xff, 0xdd, 0, 4, (uint8_t)(h->restart >> 8), (uint8_t)h->restart};
    size_t at = 0;
    out[at++] = 0xff;
    out[at++] = 0xd8;
    for (int i = 0; i < tables->count; i++)
        at += table_write(tables->of[i], i, out + at);
    memcpy(out + at, frame, sizeof(frame));
    at += sizeof(frame);
    if (h->restart) {
        memcpy(out + at, restart, sizeof(restart));
        at += sizeof(restart);
    }
    memcpy(out + at, scan, sizeof(scan));
    return at + sizeof(scan);
}

// Reads the quantization tables' header and the tables (3.1.8). Bit i of the precision says whether
// table i has 16 bits; the length says how many tables there are. A picture of types 0, 1, 64 and
// 65 uses two: what follows is skipped. FFmpeg sends one if all components have the same. Returns
// false if they are malformed.
static bool read_tables(struct bytes *in, struct jpeg_tables *out)
{
    if (bytes_left(in) < TABLES_HEADER)
        return false;
    (void)bytes_u8(in);
    unsigned precision = bytes_u8(in);
    size_t len = bytes_u16(in);
    if (bytes_left(in) < len)
        return false;
    struct bytes data = bytes_of(bytes_take(in, len), len);
    for (int i = 0; bytes_left(&data); i++) {
        bool is_wide = i < 8 && (precision >> i & 1);
        if (bytes_left(&data) < (size_t)JPEG_TABLE * (1 + is_wide))
            return false;
        for (int at = 0; at < JPEG_TABLE; at++) {
            unsigned value = is_wide ? bytes_u16(&data) : bytes_u8(&data);
            if (i < 2)
                out->of[i][at] = (uint16_t)value;
        }
        out->count = i < 2 ? i + 1 : 2;
    }
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
        (h->q > 99 && h->q < FIRST_OWN_Q))
        return false;
    if (h->type >= WITH_RESTARTS) {
        if (bytes_left(in) < RESTART_HEADER)
            return false;
        h->restart = bytes_u16(in);
        (void)bytes_u16(in);
    }
    return h->offset || h->q < FIRST_OWN_Q || read_tables(in, &h->tables);
}

// Returns false if the tables are not known.
static bool find_tables(struct memory *m, const struct jpeg_header *h, struct jpeg_tables *out)
{
    if (h->q < FIRST_OWN_Q) {
        scale_tables(h->q, out);
        return true;
    }
    struct jpeg_tables *kept = h->q < UNKEPT_Q ? &m->own[h->q - FIRST_OWN_Q] : NULL;
    if (kept && h->tables.count)
        *kept = h->tables;
    *out = kept ? *kept : h->tables;
    return out->count > 0;
}

bool jpeg_payload_is_too_large(const uint8_t *data, size_t len)
{
    struct bytes in = bytes_of(data, len);
    struct jpeg_header h;
    return read_header(&in, &h) && !h.offset && (!h.width || !h.height);
}

bool jpeg_payload_begins(const uint8_t *data, size_t len)
{
    return len >= HEADER && !data[1] && !data[2] && !data[3];
}

static bool payload_is_valid(const uint8_t *data, size_t len)
{
    struct bytes in = bytes_of(data, len);
    struct jpeg_header h;
    return read_header(&in, &h) && h.width && h.height;
}

static bool put_head(struct unpacker *u, const struct jpeg_header *h)
{
    struct jpeg_tables tables;
    uint8_t head[MAX_HEAD];
    if (!find_tables(u->memory, h, &tables))
        return false;
    unpacker_put(u, head, head_write(h, &tables, head));
    return true;
}

static bool unpack(struct unpacker *u, const uint8_t *data, size_t len)
{
    struct bytes in = bytes_of(data, len);
    struct jpeg_header h;
    if (!read_header(&in, &h) || h.offset != u->scan_bytes || (h.offset == 0) != (u->bytes == 0) ||
        (!h.offset && !put_head(u, &h)))
        return false;
    size_t scan = bytes_left(&in);
    const uint8_t *at = bytes_take(&in, scan);
    unpacker_put(u, at, scan);
    for (size_t i = scan > 2 ? scan - 2 : 0; i < scan; i++)
        u->picture_id = (uint16_t)(u->picture_id << 8 | at[i]);
    u->scan_bytes += scan;
    u->in_fragments = u->scan_bytes == 0; // a picture has bytes
    return true;
}

static void finish(struct unpacker *u)
{
    static const uint8_t end[] = {END >> 8, END & 0xff};
    if (u->picture_id != END)
        unpacker_put(u, end, sizeof(end));
}

const struct payload_format jpeg_payload_format = {.is_valid = payload_is_valid,
                                                   .unpack = unpack,
                                                   .finish = finish,
                                                   .memory_bytes = sizeof(struct memory)};
