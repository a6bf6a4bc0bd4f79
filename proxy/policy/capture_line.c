// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/capture_line.h"

#define WINDOW (10 * USEC_PER_SEC)

void capture_line_begin(struct capture_line *l)
{
    *l = (struct capture_line){0};
}

void capture_line_stamped(struct capture_line *l, usec_t media, usec_t captured)
{
    l->known = true;
    l->ahead = captured - media;
}

usec_t capture_line_arrived(struct capture_line *l, usec_t media, usec_t arrived)
{
    usec_t ahead = arrived - media;
    if (!l->is_measured || ahead - windowed_min_read(&l->measured) > CAPTURE_LINE_LEAP)
        windowed_min_init(&l->measured, WINDOW);
    l->is_measured = true;
    windowed_min_add(&l->measured, ahead, arrived);
    capture_line_stamped(l, media, media + windowed_min_read(&l->measured));
    return media + l->ahead;
}

usec_t capture_line_at(const struct capture_line *l, usec_t media)
{
    return l->known ? media + l->ahead : 0;
}
