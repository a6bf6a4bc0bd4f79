// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/bridge/recent_frames.h"

#include <stddef.h>

void recent_frames_add(struct recent_frames *r, struct shared_frame *f)
{
    struct shared_frame **at = &r->frames[r->added++ % RECENT_FRAMES];
    shared_frame_unref(*at);
    *at = shared_frame_ref(f);
}

int recent_frames_after(const struct recent_frames *r, int64_t number,
                        struct shared_frame *out[RECENT_FRAMES])
{
    int count = 0;
    for (unsigned i = 0; i < RECENT_FRAMES; i++) {
        struct shared_frame *f = r->frames[(r->added + i) % RECENT_FRAMES];
        if (f && f->head.number > number)
            out[count++] = f;
    }
    return count;
}

void recent_frames_clear(struct recent_frames *r)
{
    for (int i = 0; i < RECENT_FRAMES; i++) {
        shared_frame_unref(r->frames[i]);
        r->frames[i] = NULL;
    }
}
