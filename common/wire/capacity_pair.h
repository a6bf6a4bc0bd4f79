// SPDX-License-Identifier: GPL-2.0-or-later
// One of two packets that are sent back to back, so that the gap between their arrivals measures
// the path's capacity (packet pair; Chung, Claypool, Kinicki: MTP, 2005, section III). It is an
// RTCP APP packet (RFC 3550, 6.7) as large as the media's packets, distinguished from RTP by its
// type (RFC 5761, 4).
//
//   V=2, subtype 1, APP (204), length; SSRC; "WEIR"; 32-bit number of the pair; index within the
//   pair, 8 bits; zeros. Alone in a datagram.
#ifndef WEIR_WIRE_CAPACITY_PAIR_H
#define WEIR_WIRE_CAPACITY_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { CAPACITY_PAIR_MIN_BYTES = 20, CAPACITY_PAIR_MAX_BYTES = 4 << 16 };

struct capacity_packet {
    uint32_t ssrc;
    uint32_t pair;
    int which; // 0 or 1: the position in the order of sending
};

// Fills `out` with a packet of at most `cap` bytes, rounded down to a multiple of 4. `cap` is
// within the bounds above. Returns the packet's length.
size_t capacity_pair_encode(const struct capacity_packet *p, uint8_t *out, size_t cap);
// Returns false if the bytes are something else.
bool capacity_pair_decode(const uint8_t *data, size_t len, struct capacity_packet *out);

DECLS_END
#endif
