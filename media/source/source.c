// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/source.h"

#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/picture/geometry.h"

static struct source *open_test(const char *name, const char *spec, int *err)
{
    struct geometry g = {1280, 720, {30, 1}};
    int bad = *spec ? geometry_parse(spec, &g) : 0;
    *err = ERR_MALFORMED;
    if (bad == ERR_MALFORMED) {
        log_error("%s: expected test: or test:WxH@FPS, such as test:1280x720@30", name);
        return NULL;
    }
    if (bad) {
        log_error("%s: " GEOMETRY_RULE, name);
        return NULL;
    }
    struct source *s = source_pattern_new(g.width, g.height, g.fps);
    *err = s ? 0 : ERR_NO_MEMORY;
    if (!s)
        log_error("%s: no memory", name);
    return s;
}

struct source *source_open_guarded(const char *name, bool loop, struct media_guard *guard, int *err)
{
    static const char prefix[] = "test:";
    if (strncmp(name, prefix, sizeof(prefix) - 1) == 0)
        return open_test(name, name + sizeof(prefix) - 1, err);
    if (!*name) {
        log_error("the name of the source is empty: expected test: or a file");
        *err = ERR_MALFORMED;
        return NULL;
    }
    return source_file_open(name, loop, NULL, guard, err);
}

struct source *source_open(const char *name, bool loop, int *err)
{
    return source_open_guarded(name, loop, NULL, err);
}
