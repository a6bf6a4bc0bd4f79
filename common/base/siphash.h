// SPDX-License-Identifier: GPL-2.0-or-later
// SipHash-2-4 (Aumasson, Bernstein: SipHash: a fast short-input PRF, 2012), a keyed hash of 64
// bits.
#ifndef WEIR_BASE_SIPHASH_H
#define WEIR_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct siphash_key {
    uint64_t k[2];
};

struct siphash {
    uint64_t v[4];
    uint64_t bytes;
};

void siphash_init(struct siphash *h, const struct siphash_key *key);
// Eight bytes more: the word's, the lowest first.
void siphash_word(struct siphash *h, uint64_t word);
// The last `len` bytes (there may be none); the hash of all.
uint64_t siphash_finish(struct siphash *h, const uint8_t *data, size_t len);

#ifdef __cplusplus
}
#endif
#endif
