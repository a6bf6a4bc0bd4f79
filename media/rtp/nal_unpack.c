// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/nal_unpack.h"

size_t nal_code_end(unsigned *zeros, const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (data[i] == 0) {
            ++*zeros;
        } else if (data[i] == 1 && *zeros >= 2) {
            *zeros = 0;
            return i + 1;
        } else { // most bytes are not zero
            const uint8_t *zero = memchr(data + i, 0, len - i);
            *zeros = 0;
            i = zero ? (size_t)(zero - data) - 1 : len;
        }
    }
    return 0;
}

bool nal_is_coded(const uint8_t *data, size_t len)
{
    unsigned zeros = 0;
    size_t end = nal_code_end(&zeros, data, len < 4 ? len : 4);
    return end >= 3 && data[0] == 0 && (end == 3 || data[1] == 0);
}

void nal_begin(struct unpacker *u)
{
    u->zeros = 0;
    u->in_unit = false;
}

static void put_zeros(struct unpacker *u, unsigned zeros)
{
    static const uint8_t zero[16];
    for (unsigned n; zeros > 0; zeros -= n) {
        n = zeros < sizeof(zero) ? zeros : sizeof(zero);
        unpacker_put(u, zero, n);
    }
}

// Puts bytes of a unit after zero bytes that waited: they may have belonged to a start code.
static void put_part(struct unpacker *u, unsigned zeros, const uint8_t *data, size_t len)
{
    static const uint8_t start_code[] = {0, 0, 0, 1};
    if (!u->in_unit)
        unpacker_put(u, start_code, sizeof(start_code));
    u->in_unit = true;
    put_zeros(u, zeros);
    unpacker_put(u, data, len);
}

void nal_put(struct unpacker *u, const uint8_t *data, size_t len)
{
    while (len > 0) {
        unsigned before = u->zeros;
        size_t behind = nal_code_end(&u->zeros, data, len);
        size_t part = behind ? behind - 1 : len; // without the code and zero bytes
        while (part > 0 && data[part - 1] == 0)
            part--;
        if (part > 0)
            put_part(u, before, data, part);
        if (!behind)
            return;
        u->in_unit = false;
        data += behind;
        len -= behind;
    }
}

void nal_end(struct unpacker *u)
{
    if (u->in_unit)
        put_zeros(u, u->zeros);
    nal_begin(u);
}

void nal_finish(struct unpacker *u)
{
    if (u->in_fragments)
        nal_end(u);
    u->in_fragments = false;
}

bool nal_is_padding(const uint8_t *data, size_t len)
{
    while (len > 0 && data[len - 1] == 0)
        len--;
    return len == 0;
}
