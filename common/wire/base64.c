// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/base64.h"

#include <string.h>

#include "common/base/err.h"

static const char *const alphabet[] = {
    [BASE64_STANDARD] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    [BASE64_URL] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"};

size_t base64_encode(const uint8_t *data, size_t len, enum base64_kind kind, char *out)
{
    size_t used = 0;
    for (size_t i = 0; i < len; i += 3) {
        size_t left = len - i < 3 ? len - i : 3;
        uint32_t bits = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                        (left > 2 ? data[i + 2] : 0);
        for (size_t k = 0; k < 4; k++) {
            if (k <= left)
                out[used++] = alphabet[kind][bits >> (18 - 6 * k) & 63];
            else if (kind == BASE64_STANDARD)
                out[used++] = '=';
        }
    }
    out[used] = '\0';
    return used;
}

int base64_decode(struct text text, enum base64_kind kind, uint8_t *out, size_t cap)
{
    size_t len = text.len;
    if (kind == BASE64_STANDARD) {
        if (len % 4)
            return ERR_MALFORMED;
        for (int i = 0; i < 2 && len && text.at[len - 1] == '='; i++)
            len--;
    }
    if (len % 4 == 1)
        return ERR_MALFORMED;
    if (len * 3 / 4 > cap)
        return ERR_FULL;
    uint32_t bits = 0;
    int have = 0;
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        const char *found = text.at[i] ? strchr(alphabet[kind], text.at[i]) : NULL;
        if (!found)
            return ERR_MALFORMED;
        bits = bits << 6 | (uint32_t)(found - alphabet[kind]);
        have += 6;
        if (have >= 8) {
            have -= 8;
            out[used++] = (uint8_t)(bits >> have);
        }
    }
    // RFC 4648, 3.5: the bits that are left over are zero, so that each value has one text.
    return (bits & ((1u << have) - 1)) == 0 ? (int)used : ERR_MALFORMED;
}
