// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/speed_meter.h"

#include <math.h>

void speed_meter_start(struct speed_meter *m, usec_t now)
{
    if (!m->playing)
        *m = (struct speed_meter){.playing = true, .speed = 1, .least = 1, .most = 1, .since = now};
}

static double seconds_since(const struct speed_meter *m, usec_t now)
{
    return usec_to_sec(usec_max(0, now - m->since));
}

void speed_meter_set(struct speed_meter *m, double speed, usec_t now)
{
    if (!m->playing)
        return;
    m->media += m->speed * seconds_since(m, now);
    m->time += seconds_since(m, now);
    m->since = now;
    m->speed = speed;
    m->least = fmin(m->least, speed);
    m->most = fmax(m->most, speed);
}

double speed_meter_mean(const struct speed_meter *m, usec_t now)
{
    if (!m->playing)
        return NAN;
    double time = m->time + seconds_since(m, now);
    return time > 0 ? (m->media + m->speed * seconds_since(m, now)) / time : m->speed;
}

double speed_meter_least(const struct speed_meter *m)
{
    return m->playing ? m->least : NAN;
}

double speed_meter_most(const struct speed_meter *m)
{
    return m->playing ? m->most : NAN;
}
