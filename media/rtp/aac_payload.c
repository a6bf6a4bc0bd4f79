// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/aac_payload.h"

#include <assert.h>
#include <string.h>

#include "common/base/bytes.h"

enum { HEADER_BITS = 16, INDEX_BITS = 3 };

size_t aac_payload_write(const uint8_t *unit, size_t len, size_t *at, uint8_t *out, size_t cap)
{
    assert(len <= AAC_PAYLOAD_MAX_UNIT && *at < len && cap > AAC_PAYLOAD_HEAD);
    size_t room = cap - AAC_PAYLOAD_HEAD, left = len - *at;
    size_t take = left < room ? left : room;
    store_be16(out, HEADER_BITS);
    store_be16(out + 2, (uint16_t)(len << INDEX_BITS));
    memcpy(out + AAC_PAYLOAD_HEAD, unit + *at, take);
    *at += take;
    return AAC_PAYLOAD_HEAD + take;
}
