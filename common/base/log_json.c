// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/log_json.h"

#include "common/base/utf8.h"

void log_json_string(struct put *p, const char *text)
{
    put_format(p, "\"");
    while (*text) {
        int len = utf8_bytes(text);
        unsigned char c = (unsigned char)*text;
        if (!len)
            put_format(p, "\\ufffd");
        else if (c < 0x20 || c == 0x7f)
            put_format(p, "\\u%04x", c);
        else if (c == 0xc2 && (unsigned char)text[1] <
                                  0xa0) // C1 control characters, which a terminal may interpret
            put_format(p, "\\u%04x", (unsigned char)text[1]);
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
