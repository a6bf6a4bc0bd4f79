// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Implements RFC 3629, 4.
int utf8_bytes(const char *text)
{
    const uint8_t *s = (const uint8_t *)text;
    if (s[0] < 0x80)
        return 1;
    int len = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
              : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
              : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                            : 0;
    for (int i = 1; i < len; i++)
        if ((s[i] & 0xc0) !=
            0x80) // the terminating NUL is no continuation byte either, so the loop stops there
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xed && s[1] >= 0xa0;
    bool beyond = s[0] == 0xf4 && s[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : len;
}

// Control characters (ISO 6429): C0, DEL, and C1, which a terminal may also interpret.
static bool is_control(const char *at)
{
    const uint8_t *s = (const uint8_t *)at;
    return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

void utf8_copy(const char *text, char *out, size_t cap)
{
    size_t used = 0;
    while (*text) {
        int len = utf8_bytes(text);
        bool clean = len && !is_control(text);
        size_t bytes = clean ? (size_t)len : 1;
        if (used + bytes >= cap)
            break;
        memcpy(out + used, clean ? text : "?", bytes);
        used += bytes;
        text += len ? len : 1;
    }
    out[used] = '\0';
}
