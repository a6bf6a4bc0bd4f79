// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/feedback_limit.h"

#include <math.h>

#define PLIS         10.0
#define PLIS_PER_SEC 10.0

void feedback_limit_init(struct feedback_limit *l, usec_t now)
{
    *l = (struct feedback_limit){.plis = PLIS, .plis_at = now, .credit_at = now};
}

bool feedback_limit_nack(struct feedback_limit *l, int named, uint64_t sent, usec_t now)
{
    static const usec_t EACH = USEC_PER_SEC / FEEDBACK_CREDIT_PER_SEC;
    usec_t passed = (now - l->credit_at) / EACH;
    l->credit_at += passed * EACH;
    uint64_t credit =
        l->credit + 2 * (sent - l->sent) + (sent && l->is_film ? (uint64_t)passed : 0);
    l->credit = credit < FEEDBACK_MAX_CREDIT ? credit : FEEDBACK_MAX_CREDIT;
    l->sent = sent;
    bool enough = l->credit >= (uint64_t)named;
    if (enough)
        l->credit -= (uint64_t)named;
    l->dropped += !enough;
    return enough;
}

bool feedback_limit_pli(struct feedback_limit *l, usec_t now)
{
    l->plis = fmin(PLIS, l->plis + usec_to_sec(now - l->plis_at) * PLIS_PER_SEC);
    l->plis_at = now;
    bool enough = l->plis >= 1;
    if (enough)
        l->plis--;
    l->dropped += !enough;
    return enough;
}
