// SPDX-License-Identifier: GPL-2.0-or-later
// The payload of a parity packet (payload type RTP_PT_FEC, an SSRC and sequence numbers of its
// own): which media packets its parity covers, and the parity.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |     base sequence number      |0|  span - 1   |0|   number    |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   | mask: span bits, zeros up to a whole byte | parity ...
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+- ..
//
// Bit i of the mask, the highest of its first byte being bit 0, is set if packet base + i is
// covered. The first and the last bit are set. The number counts parity packets modulo 128.
//
// The parity is a sum over GF(2^8), polynomial 0x11d, byte by byte: each covered packet s, as its
// length in two bytes, then all of the packet from RTP's first byte on (its flow number as 0:
// a copy has another one), then zeros, is multiplied
// by 1 / ((128 + number) xor (s mod 128)). It is as long as the longest. These factors are
// entries of a Cauchy matrix: any n parity packets that cover the same packets recover any n of
// them (Blomer et al. 1995), and with different coverage they are equations of one linear system.
#ifndef WEIR_WIRE_FEC_HEADER_H
#define WEIR_WIRE_FEC_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    FEC_MAX_SPAN = 128,    // packets: half of the field's elements; the others are of parity
    FEC_MAX_PACKET = 1500, // bytes of a packet that is covered
    FEC_LENGTH = 2,        // bytes before each covered packet
    FEC_FIXED_HEADER = 4,  // bytes before the mask
    FEC_MAX_HEADER = FEC_FIXED_HEADER + FEC_MAX_SPAN / 8,
    FEC_MIN_PARITY = FEC_LENGTH + 12, // bytes: of a packet that has only RTP's fixed header
    FEC_MAX_PARITY = FEC_LENGTH + FEC_MAX_PACKET,
};

struct fec_header {
    uint16_t base;                  // sequence number of the first covered packet
    uint8_t span;                   // from the first to the last covered one, 1 .. FEC_MAX_SPAN
    uint8_t number;                 // of the parity packet, modulo 128
    uint8_t mask[FEC_MAX_SPAN / 8]; // zeros beyond the span
};

static inline bool fec_header_covers(const struct fec_header *h, int i)
{
    return h->mask[i / 8] >> (7 - i % 8) & 1;
}

static inline size_t fec_header_bytes(const struct fec_header *h)
{
    return FEC_FIXED_HEADER + (h->span + 7u) / 8;
}

// Writes it to `out`, at least FEC_MAX_HEADER bytes. Returns fec_header_bytes.
size_t fec_header_encode(const struct fec_header *h, uint8_t *out);
// Reads a parity packet's payload; the parity, of FEC_MIN_PARITY to FEC_MAX_PARITY bytes, follows
// after fec_header_bytes. Returns 0 or ERR_MALFORMED.
int fec_header_decode(const uint8_t *data, size_t len, struct fec_header *h);

DECLS_END
#endif
