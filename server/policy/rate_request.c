// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/rate_request.h"

#include <limits.h>

int rate_request_of(const struct rtcp_item *tmmbr, int lowest)
{
    if (tmmbr->max_rate.bps > INT_MAX)
        return 0;
    int bps = (int)tmmbr->max_rate.bps;
    return bps < lowest ? lowest : bps;
}
