// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/manifest/manifest_query.h"

#include <string.h>

bool manifest_query_is_plain(const char *value)
{
    return value[strspn(value,
                        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")] ==
           '\0';
}

// Returns true if a URI ends at `at`: all of them have one of three suffixes, and are followed by
// the end of their line, or of the quotes around them.
static bool ends_here(const char *text, size_t at, size_t len)
{
    static const char *const suffixes[] = {".m3u8", ".mp4", ".m4s"};
    if (at == len || (text[at] != '\n' && text[at] != '"'))
        return false;
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        size_t bytes = strlen(suffixes[i]);
        if (at > bytes && memcmp(text + at - bytes, suffixes[i], bytes) == 0)
            return true;
    }
    return false;
}

struct writer {
    char *out; // borrowed
    size_t cap, len;
};

static void write_bytes(struct writer *w, const char *bytes, size_t len)
{
    size_t room = w->len < w->cap ? w->cap - w->len : 0;
    if (room)
        memcpy(w->out + w->len, bytes, len < room ? len : room);
    w->len += len;
}

size_t manifest_query_add(const char *text, size_t len, const char *name, const char *value,
                          char *out, size_t cap)
{
    struct writer w = {.out = out, .cap = cap};
    size_t copied = 0;
    for (size_t at = 0; at < len; at++) {
        if (!ends_here(text, at, len))
            continue;
        write_bytes(&w, text + copied, at - copied);
        copied = at;
        write_bytes(&w, "?", 1);
        write_bytes(&w, name, strlen(name));
        write_bytes(&w, "=", 1);
        write_bytes(&w, value, strlen(value));
    }
    write_bytes(&w, text + copied, len - copied);
    return w.len;
}
