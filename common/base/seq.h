// SPDX-License-Identifier: GPL-2.0-or-later
// Sequence numbers that wrap, extended to 64 bits (RFC 3550, A.1: "extended sequence number").
#ifndef WEIR_BASE_SEQ_H
#define WEIR_BASE_SEQ_H

#include <stdint.h>

// Returns the 64-bit number nearest to `reference` whose low 16 bits are `seq`. May be negative
// near zero.
static inline int64_t seq16_extend(int64_t reference, uint16_t seq)
{
    return reference + (int16_t)(uint16_t)(seq - (uint16_t)reference);
}

// seq16_extend() for 32-bit counters: RTP timestamps, frame numbers, microseconds modulo 2^32.
static inline int64_t seq32_extend(int64_t reference, uint32_t value)
{
    return reference + (int32_t)(uint32_t)(value - (uint32_t)reference);
}

#endif
