// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/media_clock.h"

#include <assert.h>

// a * b / c: media times come from outside, and may be as large as they like.
static usec_t scale(usec_t a, int32_t b, int32_t c)
{
    return b == c ? a : (usec_t)((__int128)a * b / c);
}

void media_clock_init(struct media_clock *c)
{
    *c = (struct media_clock){.speed_ppm = MEDIA_CLOCK_UNIT};
}

void media_clock_set(struct media_clock *c, usec_t media, usec_t at)
{
    c->media = media;
    c->at = at;
}

void media_clock_set_speed(struct media_clock *c, int32_t speed_ppm, usec_t now)
{
    assert(speed_ppm > 0);
    if (speed_ppm == c->speed_ppm)
        return;
    media_clock_set(c, media_clock_position(c, now), now);
    c->speed_ppm = speed_ppm;
}

usec_t media_clock_due(const struct media_clock *c, usec_t media)
{
    return c->at + scale(media - c->media, MEDIA_CLOCK_UNIT, c->speed_ppm);
}

usec_t media_clock_position(const struct media_clock *c, usec_t now)
{
    return c->media + scale(now - c->at, c->speed_ppm, MEDIA_CLOCK_UNIT);
}
