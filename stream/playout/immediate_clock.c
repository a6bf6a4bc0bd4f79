// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/immediate_clock.h"

#include "stream/playout/live_clock.h"

// By this line of live_clock.h whatever there is was due long ago. (Media times are below 2^60.)
static const struct media_clock long_ago = {.at = INT64_MIN / 2, .speed_ppm = MEDIA_CLOCK_UNIT};

static struct clock_step step(struct play_clock *c, struct playout_buffer *b, bool stalled,
                              usec_t goal, usec_t now)
{
    (void)goal;
    struct playout_front front = playout_buffer_front(b);
    return live_clock_step(c, &long_ago, b, &front, stalled, now);
}

static const struct media_clock *line(const struct play_clock *c, bool stalled)
{
    (void)c;
    (void)stalled;
    return NULL;
}

const struct play_clock_ops immediate_clock = {
    .step = step, .line = line, .begins_at_key = true, .keeps_newer = true};
