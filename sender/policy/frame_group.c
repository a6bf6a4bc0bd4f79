// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/frame_group.h"

void frame_group_clear(struct frame_group *g)
{
    for (int i = 0; i < g->count; i++)
        coded_frame_unref(g->frames[i]);
    g->count = 0;
    g->bytes = 0;
}

void frame_group_add(struct frame_group *g, struct coded_frame *f)
{
    bool fits = g->count < FRAME_GROUP_FRAMES && g->bytes + f->bytes <= FRAME_GROUP_BYTES;
    if (f->key || !fits)
        frame_group_clear(g);
    if (!f->key && !g->count)
        return; // its key frame is not here
    g->frames[g->count++] = coded_frame_ref(f);
    g->bytes += f->bytes;
}
