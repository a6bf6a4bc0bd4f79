// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/annexb.h"

#include <assert.h>

#include "common/base/err.h"

enum { START_CODE = 3 }; // bytes; a fourth, a zero before them, belongs to the unit before

// Returns the offset of the next 0 0 1 at or after `from`; `len` if there is none.
static size_t next_code(const uint8_t *data, size_t len, size_t from)
{
    for (size_t i = from; i + START_CODE <= len; i++)
        if (data[i] == 0 && data[i + 1] == 0 && data[i + 2] == 1)
            return i;
    return len;
}

int annexb_split(const uint8_t *data, size_t len, struct nal *nals, int max)
{
    assert(len <= UINT32_MAX);
    size_t at = next_code(data, len, 0);
    for (size_t i = 0; i < at; i++)
        if (data[i] != 0)
            return ERR_MALFORMED;
    if (at == len)
        return ERR_MALFORMED;
    int count = 0;
    while (at < len) {
        size_t begin = at + START_CODE, end = next_code(data, len, begin);
        at = end;
        while (end > begin && data[end - 1] == 0)
            end--; // a NAL unit does not end in a zero byte (7.4.1)
        if (end == begin)
            continue;
        if (count == max)
            return ERR_FULL;
        nals[count++] = (struct nal){(uint32_t)begin, (uint32_t)(end - begin)};
    }
    return count;
}
