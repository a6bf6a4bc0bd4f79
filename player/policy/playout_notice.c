// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/playout_notice.h"

static const usec_t MIN_CHANGE = 5 * USEC_PER_MSEC;
static const usec_t MIN_INTERVAL = 500 * USEC_PER_MSEC;

int playout_notice_due(struct playout_notice *n, usec_t target, usec_t now)
{
    if (target < USEC_PER_MSEC)
        return 0;
    usec_t change = target > n->told ? target - n->told : n->told - target;
    if (n->told && (change <= MIN_CHANGE || now - n->told_at < MIN_INTERVAL))
        return 0;
    n->told = target;
    n->told_at = now;
    return (int)(target / USEC_PER_MSEC);
}
