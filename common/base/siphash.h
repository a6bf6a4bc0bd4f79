// SPDX-License-Identifier: GPL-2.0-or-later
// SipHash-2-4 (Aumasson, Bernstein: SipHash: a fast short-input PRF, 2012), a keyed 64-bit hash.
#ifndef WEIR_BASE_SIPHASH_H
#define WEIR_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct siphash_key {
    uint64_t k[2];
};

struct siphash {
    uint64_t v[4];
    uint64_t bytes;
};

void siphash_init(struct siphash *h, const struct siphash_key *key);
// Adds the eight bytes of `word`, the lowest byte first.
void siphash_word(struct siphash *h, uint64_t word);
// Adds the last `len` bytes (may be 0) and returns the hash of all bytes.
uint64_t siphash_finish(struct siphash *h, const uint8_t *data, size_t len);

DECLS_END
#endif
