// SPDX-License-Identifier: GPL-2.0-or-later
// Limits connections. The law: at most `total` connections. One address may have a quarter of them,
// rounded up, but at least PLACES_EACH_MIN. So one host cannot take all places, if there are more
// than PLACES_EACH_MIN. A trusted address, that of a proxy with many viewers, may have three
// quarters, rounded up: the rest is left to others. The minimum serves a household, and a viewer
// that reconnects before the server has detected that its old connection is dead.
//
// An IPv6 host can use any address of its /64 (RFC 4291, 2.5.1), so a /64 counts as one address.
// All hosts of all links share fe80::/64, so each link-local address counts by itself; its
// interface is ignored.
#ifndef WEIR_SERVER_POLICY_PLACES_H
#define WEIR_SERVER_POLICY_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { PLACES_EACH_MIN = 4 };

struct place_key { // an address; the lower half of IPv6 is 0 unless it is link-local
    uint64_t high, low;
};

struct places {
    int total;
    int each;         // max. places of one address
    int trusted_each; // and of a trusted one
    int count;
    struct place_key *keys; // borrowed, room for `total` and `count`; the first `count` are taken
};

// Borrows `keys`, which has room for `total`.
void places_init(struct places *p, int total, struct place_key *keys);
// Changes `total`; borrows `keys`, which has room for it and has the taken places. Those that are
// taken beyond it stay until they are left.
void places_resize(struct places *p, int total, struct place_key *keys);
// Returns the key of an IPv6 address; an IPv4-mapped one (::ffff:a.b.c.d) has the key of the IPv4
// address.
struct place_key place_key_v6(const uint8_t address[16]);
struct place_key place_key_v4(const uint8_t address[4]);
// Returns the key of an IPv6 address that counts by itself: a trusted one.
struct place_key place_key_alone(const uint8_t address[16]);
// Takes the place number `count`. Returns 0; ERR_FULL if all places are taken; ERR_RANGE if the
// address has all that one address may have.
int places_take(struct places *p, struct place_key key, bool is_trusted);
// Frees place `i`; the last place gets the number `i`.
void places_leave(struct places *p, int i);

DECLS_END
#endif
