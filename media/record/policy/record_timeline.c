// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_timeline.h"

usec_t record_timeline_frame(struct record_timeline *t, usec_t media, usec_t apart)
{
    usec_t step = media - t->last;
    if (!t->has_begun)
        t->shift = -media;
    else if (step <= 0 || step > RECORD_TIMELINE_HOLE)
        t->shift += t->last + apart - media;
    t->has_begun = true;
    t->last = media;
    return media + t->shift;
}

usec_t record_timeline_near(const struct record_timeline *t, usec_t media)
{
    usec_t away = media - t->last;
    if (!t->has_begun || away > RECORD_TIMELINE_HOLE || away < -RECORD_TIMELINE_HOLE)
        return -1;
    return media + t->shift;
}
