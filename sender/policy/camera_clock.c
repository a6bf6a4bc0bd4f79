// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/camera_clock.h"

#define DELAY_WINDOW (10 * USEC_PER_SEC)
#define EARLY        (20 * USEC_PER_MSEC) // two synchronised clocks may differ by that

static const int64_t TICKS_PER_SEC = 90000; // of RTP's clock for video (RFC 6184, 8.2.1)

static usec_t usec_of_ticks(int32_t ticks)
{
    return ticks * USEC_PER_SEC / TICKS_PER_SEC;
}

void camera_clock_init(struct camera_clock *c)
{
    *c = (struct camera_clock){0};
    windowed_min_init(&c->delay, DELAY_WINDOW);
}

void camera_clock_begin(struct camera_clock *c)
{
    c->continues = c->is_told = false;
}

void camera_clock_report(struct camera_clock *c, usec_t wall, uint32_t stamp)
{
    c->is_told = true;
    c->told_stamp = stamp;
    c->told_wall = wall;
}

// The time line continues where the clock is.
static void begin_at(struct camera_clock *c, usec_t arrived)
{
    c->media = c->begun ? c->media + usec_max(0, arrived - c->arrived) : 0;
    windowed_min_init(&c->delay, DELAY_WINDOW);
    windowed_min_add(&c->delay, arrived - c->media, arrived);
}

struct camera_time camera_clock_picture(struct camera_clock *c, uint32_t stamp, usec_t arrived,
                                        usec_t wall_ahead)
{
    if (c->continues) {
        usec_t media = c->media + usec_of_ticks((int32_t)(stamp - c->stamp));
        usec_t delay = usec_min(windowed_min_read(&c->delay), arrived - media);
        usec_t late = arrived - media - delay;
        usec_t ahead = windowed_min_read(&c->delay) - (arrived - media); // of the fastest so far
        if (late <= CAMERA_CLOCK_LEAP && ahead <= CAMERA_CLOCK_LEAP) {
            c->media = media;
            windowed_min_add(&c->delay, arrived - media, arrived);
        } else {
            begin_at(c, arrived);
        }
    } else {
        begin_at(c, arrived);
    }
    c->begun = c->continues = true;
    c->stamp = stamp;
    c->arrived = arrived;
    usec_t by_arrival = c->media + windowed_min_read(&c->delay);
    struct camera_time t = {.media = c->media,
                            .captured = by_arrival,
                            .by_arrival = by_arrival,
                            .has_wall = c->is_told};
    if (c->is_told) {
        t.wall = c->told_wall + usec_of_ticks((int32_t)(stamp - c->told_stamp));
        usec_t told = t.wall - wall_ahead;
        if (told <= arrived + EARLY && told >= arrived - CAMERA_CLOCK_ASTRAY)
            t.captured = usec_min(told, arrived);
    }
    return t;
}
