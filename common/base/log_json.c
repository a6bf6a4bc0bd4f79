// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/log_json.h"

#include <stdint.h>

// Bytes of the UTF-8 character that begins here (RFC 3629, 4); 0: none does.
static int utf8_bytes(const uint8_t *s)
{
    if (s[0] < 0x80)
        return 1;
    int len = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
              : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
              : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                            : 0;
    for (int i = 1; i < len; i++)
        if ((s[i] & 0xc0) != 0x80) // the final NUL is none either
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xed && s[1] >= 0xa0;
    bool beyond = s[0] == 0xf4 && s[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : len;
}

void log_json_string(struct put *p, const char *text)
{
    put_format(p, "\"");
    while (*text) {
        int len = utf8_bytes((const uint8_t *)text);
        unsigned char c = (unsigned char)*text;
        if (!len)
            put_format(p, "\\ufffd");
        else if (c < 0x20 || c == 0x7f)
            put_format(p, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            put_format(p, "\\%c", c);
        else
            put_format(p, "%.*s", len, text);
        text += len ? len : 1;
    }
    put_format(p, "\"");
}

void log_json(struct put *p, const struct log_entry *e, const char *ts)
{
    put_format(p, "{\"ts\":\"%s\",\"level\":\"%s\",\"module\":\"%s\",\"msg\":", ts,
               log_level_name(e->level), e->module);
    log_json_string(p, e->text);
    if (e->key) {
        put_format(p, ",\"%s\":", e->key);
        log_json_string(p, e->value);
    }
    put_format(p, "}");
}
