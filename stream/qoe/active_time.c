// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/active_time.h"

bool active_time_set(struct active_time *c, bool paused, usec_t now)
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

usec_t active_time_read(const struct active_time *c, usec_t now)
{
    usec_t open = c->paused && now > c->since ? now - c->since : 0;
    return now - c->total - open;
}

// A late event may be dated before a pause that has begun since; the result is never negative.
double active_time_seconds(const struct active_time *c, usec_t since, usec_t now)
{
    return usec_to_sec(usec_max(0, active_time_read(c, now) - since));
}
