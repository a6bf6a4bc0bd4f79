// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/policy/stored_tags.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"

static const int64_t MAX_BYTES = INT64_MAX / 16;
static const int64_t MAX_SECONDS = (int64_t)1 << 40;
static const int64_t MAX_FRAMES = (int64_t)1 << 31;

int stored_origin_encode(const struct stored_origin *o, char *out, size_t cap)
{
    int len =
        snprintf(out, cap, "weir-stored/2 bytes=%" PRId64 " mtime=%" PRId64 " frames=%" PRId64,
                 o->bytes, o->mtime, o->frames);
    return len < 0 || (size_t)len >= cap ? ERR_FULL : len;
}

// Reads a time; it may be negative, as a file's time can be before 1970.
static bool scan_mtime(struct scan *s, int64_t *out)
{
    bool negative = scan_char(s, '-');
    if (!scan_int(s, MAX_SECONDS, out))
        return false;
    *out = negative ? -*out : *out;
    return true;
}

int stored_origin_decode(const char *text, struct stored_origin *o)
{
    struct scan s = scan_of(text, strlen(text));
    bool good = scan_word(&s, "weir-stored/2 bytes=") && scan_int(&s, MAX_BYTES, &o->bytes) &&
                scan_word(&s, " mtime=") && scan_mtime(&s, &o->mtime) &&
                scan_word(&s, " frames=") && scan_int(&s, MAX_FRAMES, &o->frames) && scan_end(&s);
    return good && o->frames > 0 ? 0 : ERR_MALFORMED;
}
