// SPDX-License-Identifier: GPL-2.0-or-later
// Seeded randomness (SplitMix64, Steele et al. 2014). The generator is an object that is passed in;
// its seed is stored with the results.
#ifndef WEIR_BASE_RNG_H
#define WEIR_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline struct rng rng_seeded(uint64_t seed)
{
    struct rng r = {seed};
    return r;
}

static inline uint64_t rng_u64(struct rng *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Returns a uniform number in [0, n), n > 0. The bias of the modulo is below n / 2^64.
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
    return rng_u64(r) % n;
}

// Returns a uniform number in [0, 1).
static inline double rng_unit(struct rng *r)
{
    return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

#endif
