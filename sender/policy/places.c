// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/places.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"

enum { ADDRESSES = 4 }; // that it takes to have all places

void places_init(struct places *p, int total, struct place_key *keys)
{
    int each = (total + ADDRESSES - 1) / ADDRESSES;
    if (each < PLACES_EACH_MIN)
        each = total < PLACES_EACH_MIN ? total : PLACES_EACH_MIN;
    *p = (struct places){.total = total, .each = each, .keys = keys};
}

struct place_key place_key_v4(const uint8_t address[4])
{
    return (struct place_key){.low = UINT64_C(0xffff00000000) | load_be32(address)};
}

// fe80::/10 (RFC 4291, 2.4).
static bool is_link_local(const uint8_t address[16])
{
    return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

struct place_key place_key_v6(const uint8_t address[16])
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (memcmp(address, mapped, sizeof(mapped)) == 0)
        return place_key_v4(address + 12);
    return (struct place_key){.high = load_be64(address),
                              .low = is_link_local(address) ? load_be64(address + 8) : 0};
}

static bool is_same(struct place_key a, struct place_key b)
{
    return a.high == b.high && a.low == b.low;
}

// A scan: 16 kB at 1024 places, once for each connection, costs less than the connection itself.
int places_take(struct places *p, struct place_key key)
{
    int taken = 0;
    if (p->count == p->total)
        return ERR_FULL;
    for (int i = 0; i < p->count; i++)
        taken += is_same(p->keys[i], key);
    if (taken >= p->each)
        return ERR_RANGE;
    p->keys[p->count++] = key;
    return 0;
}

void places_leave(struct places *p, int i)
{
    assert(i < p->count);
    p->keys[i] = p->keys[--p->count];
}
