// SPDX-License-Identifier: GPL-2.0-or-later
// Which frame of the source a picture shows, also where it is so broken that its number cannot be
// read. Such a picture is taken for the frame that is due: frames come at the source's rate after
// the last one whose number was read; rounded down, and at least the one after the picture before.
// Pure.
#ifndef WEIR_LAB_WATCH_NUMBERING_H
#define WEIR_LAB_WATCH_NUMBERING_H

#include <stdint.h>

#include "common/base/level.h"
#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NUMBERING_NOTHING_NEW = -1 };

struct numbering {
    struct fps fps;
    int64_t latest; // -1: none yet
    int64_t read;   // the last number that could be read
    usec_t read_at;
    uint64_t unreadable, repeated;
};

static inline struct numbering numbering_of(struct fps fps)
{
    struct numbering n = {fps, -1, -1, 0, 0, 0};
    return n;
}

// The frame that a picture shows in which `number` was read, -1 for none; NUMBERING_NOTHING_NEW for
// one that is not after the one before (repeated), and for a broken one before all others.
int64_t numbering_next(struct numbering *n, int64_t number, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
