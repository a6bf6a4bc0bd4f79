// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/frame_clock.h"

#include <assert.h>

static const usec_t MAX_BEHIND = USEC_PER_SEC / 2; // after a longer delay, the time line restarts

void frame_clock_init(struct frame_clock *c, struct fps fps)
{
    *c = (struct frame_clock){.interval = (double)USEC_PER_SEC / fps_value(fps), .speed = 1};
}

void frame_clock_start(struct frame_clock *c, usec_t now)
{
    c->due = (double)now;
}

void frame_clock_set_speed(struct frame_clock *c, double speed)
{
    assert(speed >= FRAME_CLOCK_MIN_SPEED && speed <= FRAME_CLOCK_MAX_SPEED);
    c->speed = speed;
}

bool frame_clock_tick(struct frame_clock *c, int64_t *number, usec_t *due, usec_t now)
{
    if ((double)now - c->due > (double)MAX_BEHIND)
        c->due = (double)now;
    if (c->due > (double)now)
        return false;
    *number = c->number++;
    *due = (usec_t)c->due;
    c->due += c->interval / c->speed;
    return true;
}

usec_t frame_clock_next(const struct frame_clock *c)
{
    return (usec_t)c->due + 1;
}
