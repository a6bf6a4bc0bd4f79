// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/places.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"

enum { ADDRESSES = 4 }; // addresses that are needed to take all places

void places_init(struct places *p, int total, struct place_key *keys)
{
    p->count = 0;
    places_resize(p, total, keys);
}

void places_resize(struct places *p, int total, struct place_key *keys)
{
    int each = (total + ADDRESSES - 1) / ADDRESSES;
    if (each < PLACES_EACH_MIN)
        each = total < PLACES_EACH_MIN ? total : PLACES_EACH_MIN;
    int trusted = total - total / ADDRESSES;
    *p = (struct places){.total = total,
                         .each = each,
                         .trusted_each = trusted > each ? trusted : each,
                         .count = p->count,
                         .keys = keys};
}

struct place_key place_key_v4(const uint8_t address[4])
{
    return (struct place_key){.low = UINT64_C(0xffff00000000) | load_be32(address)};
}

static bool is_mapped(const uint8_t address[16])
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return memcmp(address, mapped, sizeof(mapped)) == 0;
}

struct place_key place_key_alone(const uint8_t address[16])
{
    if (is_mapped(address))
        return place_key_v4(address + 12);
    return (struct place_key){.high = load_be64(address), .low = load_be64(address + 8)};
}

struct place_key place_key_v6(const uint8_t address[16])
{
    struct place_key key = place_key_alone(address);
    bool link_local =
        address[0] == 0xfe && (address[1] & 0xc0) == 0x80; // fe80::/10 (RFC 4291, 2.4)
    if (!link_local && !is_mapped(address))
        key.low = 0;
    return key;
}

// Scans all keys: 16 kB for 1024 places, once per connection, cost less than the connection itself.
int places_take(struct places *p, struct place_key key, bool is_trusted)
{
    int taken = 0;
    if (p->count >= p->total)
        return ERR_FULL;
    for (int i = 0; i < p->count; i++)
        taken += p->keys[i].high == key.high && p->keys[i].low == key.low;
    if (taken >= (is_trusted ? p->trusted_each : p->each))
        return ERR_RANGE;
    p->keys[p->count++] = key;
    return 0;
}

void places_leave(struct places *p, int i)
{
    assert(i < p->count);
    p->keys[i] = p->keys[--p->count];
}
