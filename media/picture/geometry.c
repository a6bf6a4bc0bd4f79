// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/picture/geometry.h"

#include <stdlib.h>

#include "common/base/err.h"

enum {
    MIN_WIDTH = 160,
    MIN_HEIGHT = 90,
    MAX_SIDE = 4096,
    MAX_FPS = 240,
    MAX_DEN = 1001, // so that the time of 2^32 frames fits usec_of_frames
    MAX_NUMBER = 1000000,
};

// Reads digits without a sign, 1 .. MAX_NUMBER, and moves *at past them.
static bool read_number(const char **at, int *out)
{
    if (**at < '0' || **at > '9')
        return false;
    char *end;
    long n = strtol(*at, &end, 10);
    if (n < 1 || n > MAX_NUMBER)
        return false;
    *at = end;
    *out = (int)n;
    return true;
}

static bool skip(const char **at, char c)
{
    if (**at != c)
        return false;
    ++*at;
    return true;
}

bool geometry_is_good(const struct geometry *g)
{
    const struct fps *fps = &g->fps;
    return g->width >= MIN_WIDTH && g->height >= MIN_HEIGHT && g->width <= MAX_SIDE &&
           g->height <= MAX_SIDE && g->width % 2 == 0 && g->height % 2 == 0 && fps->den > 0 &&
           fps->num >= fps->den && fps->den <= MAX_DEN && fps->num <= MAX_FPS * fps->den;
}

int geometry_parse(const char *text, struct geometry *out)
{
    const char *s = text;
    if (!read_number(&s, &out->width) || !skip(&s, 'x') || !read_number(&s, &out->height) ||
        !skip(&s, '@') || !read_number(&s, &out->fps.num))
        return ERR_MALFORMED;
    out->fps.den = 1;
    if ((skip(&s, '/') && !read_number(&s, &out->fps.den)) || *s)
        return ERR_MALFORMED;
    return geometry_is_good(out) ? 0 : ERR_RANGE;
}
