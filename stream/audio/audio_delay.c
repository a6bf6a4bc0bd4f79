// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/audio/audio_delay.h"

void audio_delay_init(struct audio_delay *d)
{
    *d = (struct audio_delay){.arrived = USEC_NEVER};
    arrival_jitter_init(&d->offsets);
    windowed_min_init(&d->latest, AUDIO_DELAY_WINDOW);
    media_clock_init(&d->clock);
}

void audio_delay_packet(struct audio_delay *d, usec_t media, usec_t arrived)
{
    usec_t offset = arrived - media;
    d->arrived = arrived;
    arrival_jitter_add(&d->offsets, offset, arrived);
    windowed_min_add(&d->latest, -offset, arrived);
}

const struct media_clock *audio_delay_follow(struct audio_delay *d, const struct media_clock *clock)
{
    if (d->arrived != USEC_NEVER) {
        usec_t line = d->arrived - media_clock_position(clock, d->arrived);
        usec_t wanted = AUDIO_DELAY_AHEAD - windowed_min_read(&d->latest) - line;
        wanted = usec_max(0, usec_min(wanted, AUDIO_DELAY_MOST));
        if (wanted > d->delay || wanted < d->delay - AUDIO_DELAY_STEP)
            d->delay = wanted;
    }
    d->clock = *clock;
    d->clock.at += d->delay;
    return &d->clock;
}

usec_t audio_delay_line(struct audio_delay *d)
{
    usec_t base = arrival_jitter_base(&d->offsets);
    if (base == USEC_NEVER)
        return USEC_NEVER;
    return base + arrival_jitter_read(&d->offsets, d->arrived) + AUDIO_DELAY_AHEAD -
           AUDIO_DELAY_MOST;
}
