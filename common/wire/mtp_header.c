// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/mtp_header.h"

#include "common/base/bytes.h"
#include "common/base/err.h"

enum { MAGIC = 5, ALL_FLAGS = MTP_R | MTP_FILL | MTP_CTRL | MTP_CWR };

static int flags_are_good(unsigned flags)
{
    return !(flags & ~(unsigned)ALL_FLAGS) && (flags & (MTP_R | MTP_FILL)) != (MTP_R | MTP_FILL);
}

void mtp_header_encode(const struct mtp_header *h, uint8_t *out)
{
    assert(flags_are_good(h->flags));
    out[0] = MAGIC << 4 | MTP_VERSION;
    out[1] = h->flags;
    store_be16(out + 2, h->length);
    store_be32(out + 4, h->number);
    store_be32(out + 8, h->slot);
    store_be32(out + 12, h->time_us);
}

int mtp_header_decode(const uint8_t *data, size_t len, struct mtp_header *h)
{
    struct bytes b = bytes_of(data, len);
    if (len < MTP_HEADER_BYTES)
        return ERR_MALFORMED;
    uint8_t first = bytes_u8(&b);
    if (first >> 4 != MAGIC)
        return ERR_MALFORMED;
    if ((first & 15) != MTP_VERSION)
        return ERR_UNSUPPORTED;
    h->flags = bytes_u8(&b);
    h->length = bytes_u16(&b);
    h->number = bytes_u32(&b);
    h->slot = bytes_u32(&b);
    h->time_us = bytes_u32(&b);
    return flags_are_good(h->flags) && h->length <= bytes_left(&b) ? 0 : ERR_MALFORMED;
}
