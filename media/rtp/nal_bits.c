// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/nal_bits.h"

uint32_t nal_bits_bit(struct nal_bits *b)
{
    if (b->at >= b->count) {
        b->at = b->count + 1;
        return 0;
    }
    uint32_t bit = (uint32_t)(b->data[b->at / 8] >> (7 - b->at % 8)) & 1;
    b->at++;
    return bit;
}

uint32_t nal_bits_take(struct nal_bits *b, int n)
{
    uint32_t v = 0;
    while (n-- > 0)
        v = v << 1 | nal_bits_bit(b);
    return v;
}

uint32_t nal_bits_ue(struct nal_bits *b)
{
    int zeros = 0;
    while (b->at <= b->count && nal_bits_bit(b) == 0)
        zeros++;
    if (zeros > 31)
        b->at = b->count + 1;
    if (b->at > b->count)
        return 0;
    return ((uint32_t)1 << zeros) - 1 + nal_bits_take(b, zeros);
}

int32_t nal_bits_se(struct nal_bits *b)
{
    uint32_t k = nal_bits_ue(b);
    return k & 1 ? (int32_t)(k / 2) + 1 : -(int32_t)(k / 2);
}

bool nal_is_guard(uint8_t byte, int *zeros)
{
    bool guard = *zeros >= 2 && byte == 3;
    *zeros = byte == 0 ? *zeros + 1 : 0;
    return guard;
}

size_t nal_unescape(const uint8_t *from, size_t len, uint8_t *to, size_t cap)
{
    size_t n = 0;
    int zeros = 0;
    for (size_t i = 0; i < len && n < cap; i++)
        if (!nal_is_guard(from[i], &zeros))
            to[n++] = from[i];
    return n;
}
