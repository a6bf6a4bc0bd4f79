// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/subtitles.h"

#include <math.h>

#define INTERVAL USEC_PER_SEC

int subtitles_track(int chosen, int shown, int count)
{
    int track = chosen ? chosen : shown;
    return track > 0 && track <= count ? track : 0;
}

int subtitles_next(int track, int count, int by)
{
    int at = track >= 0 && track <= count ? track : count;
    return (at + by % (count + 1) + count + 1) % (count + 1);
}

void subtitles_choose(struct subtitles *s, int track)
{
    if (track != s->track)
        *s = (struct subtitles){.track = track, .is_stale = s->awaits || s->is_stale};
}

static usec_t place_of(double position)
{
    return usec_min((usec_t)(fmax(position, 0) * 1e6), SUBTITLE_LAST);
}

bool subtitles_due(const struct subtitles *s, double position, usec_t now,
                   struct subtitle_request *out)
{
    if (!s->track || isnan(position))
        return false;
    usec_t at = place_of(position);
    bool jumped = at < s->from || at > s->from + SUBTITLE_AHEAD;
    *out = (struct subtitle_request){s->track, at, !*s->set.head};
    return jumped || now >= s->due;
}

void subtitles_requested(struct subtitles *s, const struct subtitle_request *r, usec_t now)
{
    s->from = r->from;
    s->due = now + INTERVAL;
    s->awaits = true;
}

void subtitles_received(struct subtitles *s, struct text body)
{
    bool is_stale = s->is_stale;
    s->awaits = s->is_stale = false;
    if (is_stale)
        return;
    subtitle_set_decode(body, &s->set);
}
