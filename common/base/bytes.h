// SPDX-License-Identifier: GPL-2.0-or-later
// Big-endian (network order) loads and stores, one little-endian load, and a read cursor over bytes
// from outside. A decoder checks `bytes_left` before each group of reads; reading past the end is a
// programmer's error and asserts.
#ifndef WEIR_BASE_BYTES_H
#define WEIR_BASE_BYTES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

static inline uint16_t load_be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t load_be64(const uint8_t *p)
{
    return (uint64_t)load_be32(p) << 32 | load_be32(p + 4);
}

// Written as one expression, which compilers turn into a single load.
static inline uint64_t load_le64(const uint8_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
           (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
           (uint64_t)p[7] << 56;
}

static inline void store_be16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void store_be32(uint8_t *p, uint32_t v)
{
    store_be16(p, (uint16_t)(v >> 16));
    store_be16(p + 2, (uint16_t)v);
}

static inline void store_be64(uint8_t *p, uint64_t v)
{
    store_be32(p, (uint32_t)(v >> 32));
    store_be32(p + 4, (uint32_t)v);
}

struct bytes {
    const uint8_t *at;  // borrowed
    const uint8_t *end; // one past the last readable byte
};

// Returns p + n; NULL if p is NULL and n is 0, a sum that C17 leaves undefined (6.5.6).
static inline const uint8_t *bytes_after(const uint8_t *p, size_t n)
{
    return n ? p + n : p;
}

static inline struct bytes bytes_of(const uint8_t *data, size_t len)
{
    struct bytes b = {data, bytes_after(data, len)};
    return b;
}

static inline size_t bytes_left(const struct bytes *b)
{
    return (size_t)(b->end - b->at);
}

static inline const uint8_t *bytes_take(struct bytes *b, size_t n)
{
    assert(bytes_left(b) >= n);
    const uint8_t *p = b->at;
    b->at = bytes_after(p, n);
    return p;
}

static inline uint8_t bytes_u8(struct bytes *b)
{
    return *bytes_take(b, 1);
}

static inline uint16_t bytes_u16(struct bytes *b)
{
    return load_be16(bytes_take(b, 2));
}

static inline uint32_t bytes_u32(struct bytes *b)
{
    return load_be32(bytes_take(b, 4));
}

static inline uint64_t bytes_u64(struct bytes *b)
{
    return load_be64(bytes_take(b, 8));
}

#endif
