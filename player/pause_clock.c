// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/pause_clock.h"

bool pause_clock_set(struct pause_clock *c, bool paused, usec_t now)
{
    if (paused == c->paused)
        return false;
    if (paused)
        c->since = now;
    else
        c->total += now - c->since;
    c->paused = paused;
    return true;
}

usec_t pause_clock_read(const struct pause_clock *c, usec_t now)
{
    usec_t open = c->paused && now > c->since ? now - c->since : 0;
    return now - c->total - open;
}

// What is told late may be told with a time before the pause that began meanwhile.
double pause_clock_seconds(const struct pause_clock *c, usec_t since, usec_t now)
{
    return usec_to_sec(usec_max(0, pause_clock_read(c, now) - since));
}
