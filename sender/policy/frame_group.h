// SPDX-License-Identifier: GPL-2.0-or-later
// The coded frames from the newest key frame on, with which a new viewer begins. Bounded: a longer
// group is forgotten, and the next key frame begins another one. Pure.
#ifndef WEIR_SENDER_POLICY_FRAME_GROUP_H
#define WEIR_SENDER_POLICY_FRAME_GROUP_H

#include <stddef.h>

#include "common/base/decls.h"
#include "media/coded/coded_frame.h"

DECLS_BEGIN

enum {
    FRAME_GROUP_FRAMES = 1024,
    FRAME_GROUP_BYTES = 16 << 20,
};

struct frame_group { // all zero at first; callers may read the fields
    int count;
    size_t bytes;
    struct coded_frame *frames[FRAME_GROUP_FRAMES]; // one reference each
};

// Takes a reference to `f`. A key frame drops those before it.
void frame_group_add(struct frame_group *g, struct coded_frame *f);
void frame_group_clear(struct frame_group *g);

DECLS_END
#endif
