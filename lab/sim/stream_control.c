// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/stream_control.h"

static const usec_t FIRST_PATIENCE = USEC_PER_SEC;
static const usec_t MOST_PATIENCE = 8 * USEC_PER_SEC;

void stream_control_init(struct stream_control *c)
{
    *c = (struct stream_control){.wish = {.level = -1, .speed = 1}, .again_at = USEC_NEVER};
}

void stream_control_ask(struct stream_control *c, const struct stream_wish *wish, usec_t now)
{
    c->wish = *wish;
    c->number++;
    c->asked_at = c->again_at = now;
    c->patience = FIRST_PATIENCE;
}

bool stream_control_pull(struct stream_control *c, usec_t now)
{
    if (now < c->again_at)
        return false;
    c->again_at = now + c->patience;
    c->patience = usec_min(2 * c->patience, MOST_PATIENCE);
    return true;
}

usec_t stream_control_next(const struct stream_control *c)
{
    return c->again_at;
}

bool stream_control_answer(struct stream_control *c, int64_t number)
{
    if (number != c->number || number <= c->answered)
        return false;
    c->answered = number;
    c->again_at = USEC_NEVER;
    return true;
}

bool stream_control_heard(struct stream_control *c, int64_t number)
{
    if (number <= c->heard)
        return false;
    c->heard = number;
    return true;
}
