// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"

enum {
    MIN_WIDTH = 160,
    MIN_HEIGHT = 90,
    MAX_SIDE = 4096,
    MAX_FPS = 240,
    MAX_DEN = 1001, // so that the time of 2^32 frames fits usec_of_frames
    MAX_NUMBER = 1000000,
};

// Digits alone, 1 .. MAX_NUMBER; *at moves behind them.
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

// WxH@FPS, where FPS may be a fraction: 30000/1001.
static bool read_spec(const char *s, int *width, int *height, struct fps *fps)
{
    if (!read_number(&s, width) || !skip(&s, 'x') || !read_number(&s, height) || !skip(&s, '@') ||
        !read_number(&s, &fps->num))
        return false;
    fps->den = 1;
    if (skip(&s, '/') && !read_number(&s, &fps->den))
        return false;
    return *s == '\0';
}

static struct source *open_test(const char *name, const char *spec, int *err)
{
    int width = 1280, height = 720;
    struct fps fps = {30, 1};
    *err = ERR_MALFORMED;
    if (*spec && !read_spec(spec, &width, &height, &fps)) {
        log_error("%s: a test picture is named test: or test:WxH@FPS, as test:1280x720@30", name);
        return NULL;
    }
    if (width < MIN_WIDTH || height < MIN_HEIGHT || width > MAX_SIDE || height > MAX_SIDE ||
        width % 2 || height % 2 || fps.num < fps.den || fps.den > MAX_DEN ||
        fps.num > MAX_FPS * fps.den) {
        log_error("%s: sizes are even, from %dx%d to %dx%d, at 1 to %d frames a second, as 25 or "
                  "30000/1001",
                  name, MIN_WIDTH, MIN_HEIGHT, MAX_SIDE, MAX_SIDE, MAX_FPS);
        return NULL;
    }
    struct source *s = source_test_new(width, height, fps);
    *err = s ? 0 : ERR_NO_MEMORY;
    if (!s)
        log_error("%s: no memory", name);
    return s;
}

struct source *source_open(const char *name, bool loop, int *err)
{
    static const char prefix[] = "test:";
    if (strncmp(name, prefix, sizeof(prefix) - 1) == 0)
        return open_test(name, name + sizeof(prefix) - 1, err);
    if (!*name) {
        log_error("a source needs a name: test: or a file");
        *err = ERR_MALFORMED;
        return NULL;
    }
    return source_file_open(name, loop, err);
}
