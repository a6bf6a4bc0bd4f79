// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/policy/frame_grid.h"

#include <math.h>

static const double NEAR = 0.9;             // intervals
static const usec_t MAX_GAP = USEC_PER_SEC; // max. gap to repeat; a larger one is a clock jump
static const usec_t FORGET = USEC_PER_MSEC; // decay of `delay` per picture
static const usec_t MAX_AGE =
    10 * USEC_PER_SEC; // a stamp farther from a clock is not of that clock
static const usec_t FIRST_DELAY = 50 * USEC_PER_MSEC;

static bool is_near(int64_t stamp, usec_t clock)
{
    return stamp > clock - MAX_AGE && stamp < clock + MAX_AGE;
}

usec_t capture_stamp(int64_t stamp, usec_t now, usec_t wall)
{
    if (!is_near(stamp, now))
        stamp = is_near(stamp, wall) ? stamp - wall + now : now;
    return usec_min(usec_max(stamp, now - CAPTURE_MAX_AGE), now);
}

void frame_grid_init(struct frame_grid *t, struct fps fps)
{
    *t = (struct frame_grid){.fps = fps, .delay = FIRST_DELAY};
}

void frame_grid_restart(struct frame_grid *t)
{
    t->anchored = false;
}

void frame_grid_anchor(struct frame_grid *t, usec_t now)
{
    t->anchored = true;
    t->origin = now;
    t->first = t->next;
}

usec_t frame_grid_instant(const struct frame_grid *t)
{
    return t->origin + usec_of_frames(t->next - t->first, t->fps.num, t->fps.den);
}

int frame_grid_place(struct frame_grid *t, usec_t stamp, usec_t now)
{
    usec_t delay = usec_min(usec_max(now - stamp, 0), CAPTURE_MAX_DELAY);
    t->delay = usec_max(delay, t->delay - FORGET);
    usec_t apart = t->anchored ? stamp - frame_grid_instant(t) : 0;
    if (!t->anchored || apart > MAX_GAP || apart < -MAX_GAP) {
        frame_grid_anchor(t, stamp);
        return 0;
    }
    double frames = (double)apart * fps_value(t->fps) / (double)USEC_PER_SEC;
    if (frames <= -NEAR)
        return -1;
    return frames < NEAR ? 0 : (int)lround(frames);
}

usec_t frame_grid_deadline(const struct frame_grid *t)
{
    return frame_grid_instant(t) + (usec_t)((double)USEC_PER_SEC / fps_value(t->fps)) + t->delay;
}

int64_t frame_grid_take(struct frame_grid *t)
{
    return t->next++;
}
