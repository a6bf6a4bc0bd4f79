// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/vp9.h"

#include <assert.h>

#include "common/base/err.h"

// The index begins and ends with 110sslll: s + 1 bytes of a length, l + 1 lengths, low byte first.
enum { MARKER = 0xc0, MARKER_BITS = 0xe0 };

int vp9_split(const uint8_t *data, size_t len, struct nal pieces[VP9_MAX_PIECES])
{
    if (len == 0 || len > UINT32_MAX)
        return ERR_MALFORMED;
    uint8_t marker = data[len - 1];
    size_t bytes = (size_t)(marker >> 3 & 3) + 1, count = (size_t)(marker & 7) + 1;
    size_t index = 2 + bytes * count;
    if ((marker & MARKER_BITS) != MARKER || len < index || data[len - index] != marker) {
        pieces[0] = (struct nal){0, (uint32_t)len};
        return 1;
    }
    const uint8_t *at = data + len - index + 1;
    size_t used = 0, end = len - index;
    for (size_t i = 0; i < count; i++) {
        uint32_t size = 0;
        for (size_t k = 0; k < bytes; k++)
            size |= (uint32_t)*at++ << 8 * k;
        if (size == 0 || size > end - used)
            return ERR_MALFORMED;
        pieces[i] = (struct nal){(uint32_t)used, size};
        used += size;
    }
    return used == end ? (int)count : ERR_MALFORMED;
}

size_t vp9_write_index(const uint32_t *lengths, int count, uint8_t *out)
{
    assert(count >= 1 && count <= VP9_MAX_PIECES);
    uint32_t all = 0;
    for (int i = 0; i < count; i++)
        all |= lengths[i];
    int bytes = all >> 24 ? 4 : all >> 16 ? 3 : all >> 8 ? 2 : 1;
    uint8_t marker = (uint8_t)(MARKER | (bytes - 1) << 3 | (count - 1));
    uint8_t *at = out;
    *at++ = marker;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < bytes; k++)
            *at++ = (uint8_t)(lengths[i] >> 8 * k);
    *at++ = marker;
    return (size_t)(at - out);
}
