// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_parse.h"

#include "common/base/err.h"

enum id { // RFC 9559, 5.1; RFC 8794, 11.2
    ID_EBML = 0x1A45DFA3,
    ID_SEGMENT = 0x18538067,
    ID_INFO = 0x1549A966,
    ID_SCALE = 0x2AD7B1,
    ID_DATE = 0x4461,
    ID_CRC = 0xBF,
    ID_CLUSTER = 0x1F43B675,
    ID_TIMESTAMP = 0xE7,
    ID_SIMPLE_BLOCK = 0xA3,
    ID_GROUP = 0xA0,
    ID_BLOCK = 0xA1,
    ID_REFERENCE = 0xFB,
};

#define UNKNOWN_SIZE  UINT64_MAX
#define EPOCH_2001_S  978307200 // Matroska's dates count from 2001
#define SCALE_MSEC_NS 1000000   // the time scale of recordings

struct element {
    uint32_t id;
    uint64_t size; // of its body
    size_t body;   // its offset
};

// Reads a variable-length number of at most `max` bytes (RFC 8794, 4), with its marker if `marked`.
static int read_number(const uint8_t *data, size_t len, size_t *at, int max, bool marked,
                       uint64_t *out)
{
    if (*at >= len)
        return ERR_AGAIN;
    int bytes = 1;
    while (bytes <= max && !(data[*at] & 0x80 >> (bytes - 1)))
        bytes++;
    if (bytes > max)
        return ERR_MALFORMED;
    if (len - *at < (size_t)bytes)
        return ERR_AGAIN;
    uint64_t value = marked ? data[*at] : data[*at] & (0xff >> bytes);
    bool all_ones = (data[*at] | (0xff << (8 - bytes) & 0xff)) == 0xff;
    for (int i = 1; i < bytes; i++) {
        value = value << 8 | data[*at + (size_t)i];
        all_ones = all_ones && data[*at + (size_t)i] == 0xff;
    }
    *at += (size_t)bytes;
    *out = all_ones && !marked ? UNKNOWN_SIZE : value;
    return 0;
}

static int read_element(const uint8_t *data, size_t len, size_t at, struct element *out)
{
    uint64_t id;
    int err = read_number(data, len, &at, 4, true, &id);
    err = err ? err : read_number(data, len, &at, 8, false, &out->size);
    if (err)
        return err;
    out->id = (uint32_t)id;
    out->body = at;
    return 0;
}

static int64_t big_endian(const uint8_t *data, size_t len)
{
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++)
        value = value << 8 | data[i];
    return (int64_t)value;
}

static int parse_info(const uint8_t *data, size_t len, struct record_head *out)
{
    struct element e;
    bool has_date = false;
    for (size_t at = 0; at < len; at = e.body + (size_t)e.size) {
        if (read_element(data, len, at, &e) != 0 || e.size > len - e.body)
            return ERR_MALFORMED;
        if (e.id == ID_SCALE && big_endian(data + e.body, (size_t)e.size) != SCALE_MSEC_NS)
            return ERR_MALFORMED;
        if (e.id != ID_DATE)
            continue;
        int64_t ns = big_endian(data + e.body, (size_t)e.size);
        has_date = e.size == 8 && ns >= 0;
        out->wall = ns / 1000 + EPOCH_2001_S * USEC_PER_SEC;
    }
    return has_date ? 0 : ERR_MALFORMED;
}

int record_head_parse(const uint8_t *data, size_t len, struct record_head *out)
{
    struct element e;
    bool has_info = false;
    *out = (struct record_head){0};
    for (size_t at = 0;;) {
        int err = read_element(data, len, at, &e);
        if (err)
            return err;
        if ((at == 0) != (e.id == ID_EBML) || at > RECORD_HEAD_MAX)
            return ERR_MALFORMED;
        if (e.id == ID_CLUSTER) {
            out->bytes = at;
            return has_info ? 0 : ERR_MALFORMED;
        }
        if (e.id == ID_SEGMENT) { // its size is that of the file when that was complete
            at = e.body;
            continue;
        }
        if (e.size > RECORD_HEAD_MAX)
            return ERR_MALFORMED;
        if (e.size > len - e.body)
            return ERR_AGAIN;
        if (e.id == ID_INFO && parse_info(data + e.body, (size_t)e.size, out) != 0)
            return ERR_MALFORMED;
        has_info = has_info || e.id == ID_INFO;
        at = e.body + (size_t)e.size;
    }
}

int record_cluster_parse(const uint8_t *data, size_t len, struct record_cluster_head *out)
{
    struct element e, time;
    int err = read_element(data, len, 0, &e);
    if (!err && (e.id != ID_CLUSTER || e.size > RECORD_CLUSTER_MAX))
        return ERR_MALFORMED;
    err = err ? err : read_element(data, len, e.body, &time);
    if (!err && time.id == ID_CRC && time.size == 4) // RFC 8794, 11.3.1: it is the first element
        err = read_element(data, len, time.body + (size_t)time.size, &time);
    if (err)
        return err;
    if (time.id != ID_TIMESTAMP || time.size < 1 || time.size > 6 ||
        time.body - e.body + time.size > e.size)
        return ERR_MALFORMED;
    if (time.size > len - time.body)
        return ERR_AGAIN;
    out->head = time.body + (size_t)time.size;
    out->bytes = e.body + (size_t)e.size;
    out->time = big_endian(data + time.body, (size_t)time.size) * USEC_PER_MSEC;
    return 0;
}

size_t record_cluster_search(const uint8_t *data, size_t len, size_t from)
{
    for (size_t at = from; at + 4 <= len; at++)
        if (big_endian(data + at, 4) == ID_CLUSTER)
            return at;
    return len;
}

// The body of a Block or SimpleBlock (RFC 9559, 10).
static int parse_block(const uint8_t *data, size_t len, struct record_block *out)
{
    size_t at = 0;
    uint64_t track;
    if (read_number(data, len, &at, 8, false, &track) != 0 || track > 127 || len - at < 3)
        return ERR_MALFORMED;
    int flags = data[at + 2];
    if (flags & 0x06) // lacing
        return ERR_MALFORMED;
    out->track = (int)track;
    out->key = flags & 0x80;
    out->time = (int16_t)(data[at] << 8 | data[at + 1]) * USEC_PER_MSEC;
    out->data = data + at + 3;
    out->len = len - at - 3;
    return 0;
}

bool record_cluster_is_key(const uint8_t *data, size_t len, const struct record_cluster_head *head)
{
    struct element e;
    struct record_block b;
    for (size_t at = head->head; at < len && at < head->bytes; at = e.body + (size_t)e.size) {
        if (read_element(data, len, at, &e) != 0)
            return false;
        size_t left = len - e.body;
        if (e.id == ID_SIMPLE_BLOCK &&
            parse_block(data + e.body, e.size < left ? (size_t)e.size : left, &b) == 0 &&
            b.track == RECORD_VIDEO_TRACK)
            return b.key;
        if (e.size >= left)
            return false;
    }
    return false;
}

static int parse_group(const uint8_t *data, size_t len, struct record_block *out)
{
    struct element e;
    bool has_block = false, refers = false;
    for (size_t at = 0; at < len; at = e.body + (size_t)e.size) {
        if (read_element(data, len, at, &e) != 0 || e.size > len - e.body)
            return ERR_MALFORMED;
        refers = refers || e.id == ID_REFERENCE;
        if (e.id == ID_BLOCK && parse_block(data + e.body, (size_t)e.size, out) != 0)
            return ERR_MALFORMED;
        has_block = has_block || e.id == ID_BLOCK;
    }
    out->key = !refers;
    return has_block ? 0 : ERR_MALFORMED;
}

int record_block_next(const uint8_t *cluster, size_t len, size_t *at, struct record_block *out)
{
    struct element e;
    while (*at < len) {
        if (read_element(cluster, len, *at, &e) != 0 || e.size > len - e.body)
            return ERR_MALFORMED;
        *at = e.body + (size_t)e.size;
        int err = e.id == ID_SIMPLE_BLOCK ? parse_block(cluster + e.body, (size_t)e.size, out)
                  : e.id == ID_GROUP      ? parse_group(cluster + e.body, (size_t)e.size, out)
                                          : ERR_AGAIN;
        if (err != ERR_AGAIN)
            return err ? err : 1;
    }
    return 0;
}
