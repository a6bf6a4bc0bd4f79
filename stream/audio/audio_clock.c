// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/audio/audio_clock.h"

#include <stdlib.h>

void audio_clock_init(struct audio_clock *c)
{
    *c = (struct audio_clock){.delay = AUDIO_CLOCK_MIN_DELAY};
    media_clock_init(&c->clock);
}

void audio_clock_picture(struct audio_clock *c, usec_t pts, usec_t shown_at)
{
    usec_t heard_at = shown_at + c->delay;
    usec_t off = heard_at - media_clock_due(&c->clock, pts);
    // One jump of the audio is better than an offset that it corrects over seconds.
    if (!c->is_set || llabs(off) > AUDIO_CLOCK_ASTRAY)
        media_clock_set(&c->clock, pts, heard_at);
    else
        c->clock.at += off / AUDIO_CLOCK_PICTURES;
    c->is_set = true;
}

void audio_clock_unset(struct audio_clock *c)
{
    c->is_set = false;
}

void audio_clock_underruns(struct audio_clock *c, uint64_t total)
{
    if (total > c->underruns)
        c->delay = usec_min(c->delay + AUDIO_CLOCK_DELAY_STEP, AUDIO_CLOCK_MAX_DELAY);
    c->underruns = total;
}

const struct media_clock *audio_clock_get(const struct audio_clock *c)
{
    return c->is_set ? &c->clock : NULL;
}
