// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/scaled_clock.h"

struct clock_step scaled_clock_step(struct play_clock *c, struct playout_buffer *b, bool stalled,
                                    usec_t goal, usec_t now)
{
    (void)stalled;
    (void)goal;
    struct playout_front front = playout_buffer_front(b);
    const struct received_frame *f = front.frame;
    if (!f)
        return playout_buffer_has_ended(b) ? (struct clock_step){.kind = STEP_END}
                                           : clock_step_wait(USEC_NEVER);
    if (f->number < front.next)
        return (struct clock_step){.kind = STEP_DECODE};
    bool hurried = f->number == c->hurried;
    usec_t due = hurried ? now : media_clock_due(&c->media, f->pts);
    usec_t wanted = due - c->decode_lead;
    if (!hurried && now < wanted)
        return clock_step_wait(wanted);
    if (playout_buffer_lacks_before(b, f))
        return clock_step_wait(USEC_NEVER);
    if (due < now)
        media_clock_set(&c->media, f->pts, now);
    playout_buffer_pass_to(b, f->number);
    return (struct clock_step){.kind = STEP_SHOW, .at = due};
}
