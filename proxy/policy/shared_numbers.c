// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/shared_numbers.h"

#include "server/policy/number_shift.h"

enum { NEAR_SECONDS = 10 }; // so far from the clock, the origin's numbers are the same as before

void shared_numbers_init(struct shared_numbers *n, const struct ladder *ladder)
{
    *n = (struct shared_numbers){
        .period = number_shift_period(ladder), .fps = fps_value(ladder->source_fps), .last = -1};
}

int64_t shared_numbers_begin(struct shared_numbers *n, int64_t first, int64_t flow_last, usec_t now)
{
    if (n->last < 0)
        return n->shift;
    int64_t next = n->last + 1 + (int64_t)(usec_to_sec(now - n->last_at) * n->fps);
    int64_t kept = first + n->shift, near = (int64_t)(NEAR_SECONDS * n->fps);
    if (kept <= flow_last || kept - next > near || next - kept > near)
        n->shift = number_shift_of(n->period, first, next);
    return n->shift;
}

void shared_numbers_note(struct shared_numbers *n, int64_t number, usec_t now)
{
    if (number <= n->last)
        return;
    n->last = number;
    n->last_at = now;
}
