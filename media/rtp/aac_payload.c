// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/aac_payload.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"

enum { HEADER_BITS = 16, INDEX_BITS = 3 };

size_t aac_payload_write(const uint8_t *unit, size_t len, size_t *at, uint8_t *out, size_t cap)
{
    assert(len <= AAC_PAYLOAD_MAX_UNIT && *at < len && cap > AAC_PAYLOAD_HEAD);
    size_t room = cap - AAC_PAYLOAD_HEAD, left = len - *at;
    size_t take = left < room ? left : room;
    store_be16(out, HEADER_BITS);
    store_be16(out + 2, (uint16_t)(len << INDEX_BITS));
    memcpy(out + AAC_PAYLOAD_HEAD, unit + *at, take);
    *at += take;
    return AAC_PAYLOAD_HEAD + take;
}

static void add_unit(struct aac_units *out, const uint8_t *data, size_t bytes)
{
    out->units[out->count].data = data;
    out->units[out->count++].bytes = bytes;
}

// Adds a part of a unit of `bytes`.
static void add_fragment(struct aac_fragments *f, const uint8_t *part, size_t len, size_t bytes,
                         int64_t time, struct aac_units *out)
{
    if (f->bytes != bytes || f->time != time || f->have + len > bytes) {
        f->bytes = bytes;
        f->time = time;
        f->have = 0;
    }
    memcpy(f->data + f->have, part, len);
    f->have += len;
    if (f->have < bytes)
        return;
    add_unit(out, f->data, bytes);
    f->bytes = 0;
}

int aac_payload_read(struct aac_fragments *f, const uint8_t *payload, size_t len, int64_t time,
                     struct aac_units *out)
{
    out->count = 0;
    if (len < AAC_PAYLOAD_HEAD)
        return ERR_MALFORMED;
    size_t bits = load_be16(payload), headers = bits / HEADER_BITS;
    size_t at = 2 + bits / 8;
    if (headers == 0 || headers > AAC_PAYLOAD_UNITS || bits % HEADER_BITS || at >= len)
        return ERR_MALFORMED;
    for (size_t i = 0; i < headers; i++) {
        unsigned header = load_be16(payload + 2 + 2 * i);
        size_t bytes = header >> INDEX_BITS, left = len - at;
        bool is_fragment = headers == 1 && left < bytes;
        if (bytes == 0 || (header & ((1 << INDEX_BITS) - 1)) || (left < bytes && !is_fragment)) {
            out->count = 0;
            return ERR_MALFORMED;
        }
        if (is_fragment)
            add_fragment(f, payload + at, left, bytes, time, out);
        else
            add_unit(out, payload + at, bytes);
        at += bytes;
    }
    return 0;
}
