// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/clip_times.h"

// Pictures are nearly in order: each moves by a few places.
static void sort_decode(struct clip_picture *pictures, int count)
{
    for (int i = 1; i < count; i++) {
        usec_t time = pictures[i].decode;
        int at = i;
        for (; at > 0 && pictures[at - 1].decode > time; at--)
            pictures[at].decode = pictures[at - 1].decode;
        pictures[at].decode = time;
    }
}

static usec_t needed_delay(const struct clip_picture *pictures, int count)
{
    usec_t delay = 0;
    for (int i = 0; i < count; i++)
        delay = usec_max(delay, pictures[i].decode - pictures[i].wall);
    return delay;
}

void clip_times_group(struct clip_times *t, struct clip_picture *pictures, int count)
{
    if (count == 0)
        return;
    for (int i = 0; i < count; i++)
        pictures[i].decode = pictures[i].wall;
    sort_decode(pictures, count);
    usec_t first = pictures[0].decode;
    if (!t->has_begun) {
        t->delay = needed_delay(pictures, count);
        t->shift = first;
        t->decoded = -CLIP_APART;
    } else if (first - t->newest > CLIP_GAP || first < t->newest - CLIP_GAP) {
        t->shift += first - t->newest - t->apart;
    }
    t->has_begun = true;
    for (int i = 0; i < count; i++) {
        struct clip_picture *p = &pictures[i];
        usec_t wall = p->decode;
        p->decode = usec_max(wall - t->shift, t->decoded + CLIP_APART);
        p->show = usec_max(p->wall - t->shift + t->delay, p->decode);
        t->apart = usec_min(usec_max(p->decode - t->decoded, CLIP_APART), CLIP_GAP);
        t->decoded = p->decode;
        t->newest = usec_max(wall, i ? t->newest : wall);
    }
}

usec_t clip_times_audio(const struct clip_times *t, usec_t wall)
{
    return wall - t->shift + t->delay;
}
