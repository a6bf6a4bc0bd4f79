// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/sdp_hevc.h"

#include <string.h>
#include <strings.h>

static const char NAME[] = "H265/90000";
enum { NAME_LEN = sizeof(NAME) - 1 };

static bool begins(const char *line, size_t len, const char *word)
{
    size_t n = strlen(word);
    return len >= n && memcmp(line, word, n) == 0;
}

// Returns the offset of the name of H.265 in a line "a=rtpmap:N H265/90000"; 0: it has none.
static size_t name_at(const char *line, size_t len)
{
    if (!begins(line, len, "a=rtpmap:"))
        return 0;
    for (size_t at = 9; at + NAME_LEN <= len; at++)
        if (line[at - 1] == ' ' && strncasecmp(line + at, NAME, NAME_LEN) == 0)
            return at;
    return 0;
}

size_t sdp_hevc_rewrite(const char *data, size_t len, char *out)
{
    size_t used = 0;
    bool found = false;
    for (size_t at = 0; at < len;) {
        const char *line = data + at;
        const char *end = memchr(line, '\n', len - at);
        size_t n = end ? (size_t)(end - line) + 1 : len - at;
        at += n;
        if (begins(line, n, "a=fmtp:"))
            continue;
        memcpy(out + used, line, n);
        size_t name = name_at(line, n);
        if (name) {
            memcpy(out + used + name, "H264", 4);
            found = true;
        }
        used += n;
    }
    return found ? used : 0;
}
