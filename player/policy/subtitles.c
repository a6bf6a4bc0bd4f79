// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/subtitles.h"

#include <math.h>

#include "common/wire/rtsp.h"

#define INTERVAL USEC_PER_SEC

int subtitles_next(int track, int count)
{
    return track < count ? track + 1 : 0;
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
    *out = (struct subtitle_request){s->track, at};
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
    size_t at = 0;
    struct text name, value;
    bool is_stale = s->is_stale;
    s->awaits = s->is_stale = false;
    if (is_stale)
        return;
    s->count = 0;
    while (s->count < SUBTITLE_CUES && rtsp_parameter_next(body, &at, &name, &value) == 1)
        if (text_is_nocase(name, "subtitle") && subtitle_cue_decode(value, &s->cues[s->count]))
            s->count++;
}

void subtitles_text(const struct subtitles *s, double position, char out[SUBTITLE_BYTES])
{
    out[0] = '\0';
    if (!isnan(position))
        subtitle_at(s->cues, s->count, place_of(position), out);
}
