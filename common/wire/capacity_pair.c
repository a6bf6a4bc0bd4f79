// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/capacity_pair.h"

#include <assert.h>
#include <string.h>

#include "common/base/bytes.h"

enum { RTCP_APP = 204, SUBTYPE = 1 };

static const uint8_t name[4] = {'W', 'E', 'I', 'R'};

size_t capacity_pair_encode(const struct capacity_packet *p, uint8_t *out, size_t cap)
{
    assert(cap >= CAPACITY_PAIR_MIN_BYTES && cap <= CAPACITY_PAIR_MAX_BYTES);
    size_t len = cap / 4 * 4;
    memset(out, 0, len);
    out[0] = 2 << 6 | SUBTYPE;
    out[1] = RTCP_APP;
    store_be16(out + 2, (uint16_t)(len / 4 - 1));
    store_be32(out + 4, p->ssrc);
    memcpy(out + 8, name, sizeof(name));
    store_be32(out + 12, p->pair);
    out[16] = (uint8_t)p->which;
    return len;
}

bool capacity_pair_decode(const uint8_t *data, size_t len, struct capacity_packet *out)
{
    if (len < CAPACITY_PAIR_MIN_BYTES || data[0] != (2 << 6 | SUBTYPE) || data[1] != RTCP_APP ||
        4 * ((size_t)load_be16(data + 2) + 1) != len || memcmp(data + 8, name, sizeof(name)) != 0 ||
        data[16] > 1)
        return false;
    *out = (struct capacity_packet){
        .ssrc = load_be32(data + 4), .pair = load_be32(data + 12), .which = data[16]};
    return true;
}
