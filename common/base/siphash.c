// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/siphash.h"

#include "common/base/bytes.h"

enum { ROUNDS = 2, LAST_ROUNDS = 4 };

static inline uint64_t rotated(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

// One SipRound (section 2, figure 2.1). Inlined, so that the state stays in registers between
// words.
static inline void round_of(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotated(v[1], 13) ^ v[0];
    v[3] = rotated(v[3], 16) ^ v[2];
    v[0] = rotated(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotated(v[1], 17) ^ v[2];
    v[3] = rotated(v[3], 21) ^ v[0];
    v[2] = rotated(v[2], 32);
}

static inline void compress(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    for (int i = 0; i < ROUNDS; i++)
        round_of(v);
    v[0] ^= word;
}

void siphash_init(struct siphash *h, const struct siphash_key *key)
{
    *h = (struct siphash){
        .v = {key->k[0] ^ 0x736f6d6570736575, key->k[1] ^ 0x646f72616e646f6d,
              key->k[0] ^ 0x6c7967656e657261, key->k[1] ^ 0x7465646279746573},
    };
}

void siphash_word(struct siphash *h, uint64_t word)
{
    compress(h->v, word);
    h->bytes += 8;
}

uint64_t siphash_finish(struct siphash *h, const uint8_t *data, size_t len)
{
    // Works on a copy: `data` may alias the state, so the compiler would store the state after each
    // word.
    uint64_t v[4] = {h->v[0], h->v[1], h->v[2], h->v[3]};
    size_t whole = len - len % 8;
    for (size_t i = 0; i < whole; i += 8)
        compress(v, load_le64(data + i));
    // The highest byte of the last word is the length.
    uint64_t last = (h->bytes + len) << 56;
    for (size_t i = whole; i < len; i++)
        last |= (uint64_t)data[i] << (8 * (i - whole));
    compress(v, last);
    v[2] ^= 0xff;
    for (int i = 0; i < LAST_ROUNDS; i++)
        round_of(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
