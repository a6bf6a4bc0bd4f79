// SPDX-License-Identifier: GPL-2.0-or-later
// Determines which frame of the source a picture shows, even if the picture is too broken for its
// number to be read. A broken picture counts as the frame that is due: frames come at the source's
// rate after the last frame whose number was read; rounded down, and at least the one after the
// previous picture. Pure.
#ifndef WEIR_LAB_WATCH_NUMBERING_H
#define WEIR_LAB_WATCH_NUMBERING_H

#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { NUMBERING_NOTHING_NEW = -1 };

struct numbering {
    struct fps fps;
    int64_t latest; // number of the newest frame; -1: none yet
    int64_t read;   // last number that could be read
    usec_t read_at;
    uint64_t unreadable, repeated;
};

static inline struct numbering numbering_of(struct fps fps)
{
    struct numbering n = {fps, -1, -1, 0, 0, 0};
    return n;
}

// Returns the frame that a picture shows in which `number` was read (-1: none);
// NUMBERING_NOTHING_NEW for a picture that is not newer than the previous one (repeated), and for a
// broken one before the first readable one.
int64_t numbering_next(struct numbering *n, int64_t number, usec_t now);

DECLS_END
#endif
