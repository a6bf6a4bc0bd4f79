// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the fields of a NAL unit of H.264 or H.265 (7.2, 9.1 of H.264; 7.2, 9.2 of H.265). After a
// read past the end, `at` is above `count` and all further fields are 0.
#ifndef WEIR_MEDIA_RTP_NAL_BITS_H
#define WEIR_MEDIA_RTP_NAL_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct nal_bits {
    const uint8_t *data; // borrowed, without the inserted 03 bytes
    size_t count;        // bits
    size_t at;           // index of the next bit
};

uint32_t nal_bits_bit(struct nal_bits *b);
uint32_t nal_bits_take(struct nal_bits *b, int n); // the last 32 of `n` bits
// An unsigned Exp-Golomb code. One that is too long counts as the end of the data.
uint32_t nal_bits_ue(struct nal_bits *b);
int32_t nal_bits_se(struct nal_bits *b); // a signed one

// NAL units carry 00 00 03 0x for 00 00 0x, x <= 3 (7.3.1, 7.4.1). Returns true if `byte` is such
// an inserted 03. `zeros`: number of zero bytes before it, updated.
bool nal_is_guard(uint8_t byte, int *zeros);
// Copies a NAL unit without the inserted 03 bytes, at most `cap` bytes; returns the length.
size_t nal_unescape(const uint8_t *from, size_t len, uint8_t *to, size_t cap);

DECLS_END
#endif
