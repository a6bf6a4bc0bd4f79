// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/rewind.h"

#include <math.h>

enum rewind_request rewind_to(struct rewind *r, double behind, usec_t now)
{
    if (r->kept <= 0)
        return REWIND_IMPOSSIBLE;
    double base = r->phase == REWIND_REQUESTED ? r->to : r->behind;
    double to = fmin(fmax(behind, 0), r->kept);
    to = to < REWIND_PRESENT ? 0 : to;
    bool is_back = behind > base;
    if ((is_back && base >= r->kept) || (!is_back && base <= 0 && to <= 0))
        return REWIND_AT_LIMIT;
    r->to = to;
    r->phase = REWIND_REQUESTED;
    r->requested = now;
    return REWIND_WANTED;
}

enum rewind_request rewind_by(struct rewind *r, double seconds, usec_t now)
{
    double base = r->phase == REWIND_REQUESTED ? r->to : r->behind;
    return rewind_to(r, base - seconds, now);
}

bool rewind_placed(struct rewind *r, const struct rewind_place *place)
{
    bool was_past = r->behind > 0;
    r->kept = place->kept;
    r->behind = place->behind;
    // Of several requests the responses come in order: a later one is still awaited.
    if (place->sought && r->phase == REWIND_REQUESTED) {
        r->phase = place->first >= 0 ? REWIND_PLACED : REWIND_IDLE;
        r->first = place->first;
    }
    return place->first >= 0 && (place->sought || was_past);
}

void rewind_refused(struct rewind *r)
{
    r->phase = REWIND_IDLE;
}

bool rewind_shown(struct rewind *r, int64_t number, usec_t shown_at, usec_t *wait)
{
    if (r->phase != REWIND_PLACED || number < r->first)
        return false;
    r->phase = REWIND_IDLE;
    *wait = shown_at - r->requested;
    return true;
}
