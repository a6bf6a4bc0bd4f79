// SPDX-License-Identifier: GPL-2.0-or-later
// "1280x720@30": a size in pixels and a frame rate, which may be a fraction (30000/1001).
#ifndef WEIR_MEDIA_PICTURE_GEOMETRY_H
#define WEIR_MEDIA_PICTURE_GEOMETRY_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/level.h"

DECLS_BEGIN

struct geometry {
    int width;
    int height;
    struct fps fps;
};

#define GEOMETRY_RULE                                                                              \
    "sizes are even, from 160x90 to 4096x4096, at 1 to 240 frames a second, as 25 or 30000/1001"

bool geometry_is_good(const struct geometry *g); // true if `g` satisfies GEOMETRY_RULE
// Returns 0, ERR_MALFORMED, or ERR_RANGE if the values violate GEOMETRY_RULE.
int geometry_parse(const char *text, struct geometry *out);

DECLS_END
#endif
