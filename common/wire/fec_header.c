// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/fec_header.h"

#include <assert.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"

size_t fec_header_encode(const struct fec_header *h, uint8_t *out)
{
    assert(h->span >= 1 && h->span <= FEC_MAX_SPAN && h->number < 128);
    size_t len = fec_header_bytes(h);
    store_be16(out, h->base);
    out[2] = (uint8_t)(h->span - 1);
    out[3] = h->number;
    memcpy(out + FEC_FIXED_HEADER, h->mask, len - FEC_FIXED_HEADER);
    return len;
}

int fec_header_decode(const uint8_t *data, size_t len, struct fec_header *h)
{
    if (len < FEC_FIXED_HEADER || data[2] >= FEC_MAX_SPAN || data[3] >= 128)
        return ERR_MALFORMED;
    *h = (struct fec_header){
        .base = load_be16(data), .span = (uint8_t)(data[2] + 1), .number = data[3]};
    size_t head = fec_header_bytes(h);
    if (len < head + FEC_MIN_PARITY || len > head + FEC_MAX_PARITY)
        return ERR_MALFORMED;
    memcpy(h->mask, data + FEC_FIXED_HEADER, head - FEC_FIXED_HEADER);
    uint8_t beyond = (uint8_t)(h->span % 8 ? h->mask[(h->span - 1) / 8] << h->span % 8 : 0);
    bool exact = fec_header_covers(h, 0) && fec_header_covers(h, h->span - 1) && beyond == 0;
    return exact ? 0 : ERR_MALFORMED;
}
