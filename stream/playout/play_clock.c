// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/play_clock.h"

struct clock_step clock_step_wait(usec_t until)
{
    return (struct clock_step){.kind = STEP_WAIT, .at = until};
}

usec_t play_clock_wanted(const struct play_clock *c, const struct media_clock *line,
                         const struct playout_buffer *b, const struct playout_front *front)
{
    if (c->hurried >= 0 &&
        (front->frame->number == c->hurried || playout_buffer_has_behind(b, c->hurried)))
        return INT64_MIN;
    return media_clock_due(line, front->first_pts) - (front->waits ? 0 : c->decode_lead);
}
