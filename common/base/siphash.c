// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/siphash.h"

enum { ROUNDS = 2, LAST_ROUNDS = 4 };

static uint64_t rotated(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

// Section 2, figure 2.1.
static void round_of(uint64_t v[4])
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

static void compress(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    for (int i = 0; i < ROUNDS; i++)
        round_of(v);
    v[0] ^= word;
}

static uint64_t little_endian(const uint8_t *p, size_t n)
{
    uint64_t word = 0;
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)p[i] << (8 * i);
    return word;
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
    size_t whole = len - len % 8;
    for (size_t i = 0; i < whole; i += 8)
        compress(h->v, little_endian(data + i, 8));
    // The last word has the length in its highest byte.
    uint64_t rest = len % 8 ? little_endian(data + whole, len % 8) : 0;
    compress(h->v, (h->bytes + len) << 56 | rest);
    h->v[2] ^= 0xff;
    for (int i = 0; i < LAST_ROUNDS; i++)
        round_of(h->v);
    return h->v[0] ^ h->v[1] ^ h->v[2] ^ h->v[3];
}
