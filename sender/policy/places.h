// SPDX-License-Identifier: GPL-2.0-or-later
// Who may connect. The law: at most `total` connections. One address may have a quarter of them,
// rounded up, but at least PLACES_EACH_MIN; so one host cannot take the places of all others, where
// there are more than PLACES_EACH_MIN. The minimum is for a household, and for a viewer that
// connects again before the server has noticed that its old connection is dead.
//
// An IPv6 host may choose among the addresses of its /64 (RFC 4291, 2.5.1), which therefore count
// as one. All hosts of all links share fe80::/64, so each link-local address counts by itself. Its
// interface is ignored.
#ifndef WEIR_SENDER_POLICY_PLACES_H
#define WEIR_SENDER_POLICY_PLACES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PLACES_EACH_MIN = 4 };

struct place_key { // an address, of IPv6 without its lower half unless it is link-local
    uint64_t high, low;
};

struct places {
    int total;
    int each; // of one address
    int count;
    struct place_key *keys; // borrowed, room for `total`; the first `count` are taken
};

// `keys` has room for `total`.
void places_init(struct places *p, int total, struct place_key *keys);
// The key of an IPv6 address; one that maps an IPv4 address (::ffff:a.b.c.d) counts as that one.
struct place_key place_key_v6(const uint8_t address[16]);
struct place_key place_key_v4(const uint8_t address[4]);
// Takes the place number `count`. 0; ERR_FULL: all places are taken; ERR_RANGE: all that one
// address may have are.
int places_take(struct places *p, struct place_key key);
// Gives the place `i` back: the last one gets its number.
void places_leave(struct places *p, int i);

#ifdef __cplusplus
}
#endif
#endif
