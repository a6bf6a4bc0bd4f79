// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/pipe_pace.h"

#define FIRST_STEP (USEC_PER_SEC / 25) // of a stream that begins with a jump
#define MAX_TIME   (INT64_MAX / 4)

// Hostile times may be any number.
static bool is_time(usec_t t)
{
    return t > -MAX_TIME && t < MAX_TIME;
}

static usec_t step_to(struct pipe_pace *p, usec_t decoded)
{
    usec_t usual = p->step ? p->step : FIRST_STEP;
    if (!is_time(decoded))
        return usual;
    usec_t step = decoded - p->file;
    if (step < 0 || step > PIPE_PACE_JUMP)
        return usual;
    p->step = usec_max(step, PIPE_PACE_LEAST);
    return p->step;
}

struct pipe_time pipe_pace_picture(struct pipe_pace *p, usec_t decoded, usec_t shown, usec_t now)
{
    if (p->begun) {
        usec_t step = step_to(p, decoded);
        p->due = usec_max(p->due + step, now - PIPE_PACE_SLACK);
        p->file = is_time(decoded) ? decoded : p->file + step;
    } else {
        p->due = now;
        p->file = is_time(decoded) ? decoded : 0;
    }
    p->begun = true;
    usec_t later = is_time(shown) ? shown - p->file : 0;
    bool is_credible = later >= 0 && later <= PIPE_PACE_JUMP;
    return (struct pipe_time){.due = p->due, .shown = p->due + (is_credible ? later : 0)};
}

bool pipe_pace_audio(const struct pipe_pace *p, usec_t at, struct pipe_time *out)
{
    usec_t later = is_time(at) ? at - p->file : INT64_MAX;
    if (!p->begun || later < -PIPE_PACE_JUMP || later > PIPE_PACE_JUMP)
        return false;
    *out = (struct pipe_time){.due = p->due + later - PIPE_PACE_AHEAD, .shown = p->due + later};
    return true;
}
