// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/rate_request.h"

#include <limits.h>

bool rate_request_is_for(const struct rtcp_item *item, uint32_t ssrc)
{
    if (item->kind == RTCP_IS_TMMBR)
        return item->media_ssrc == ssrc;
    if (item->kind != RTCP_IS_REMB)
        return false;
    for (int i = 0; i < item->ssrc_count; i++)
        if (item->ssrcs[i] == ssrc || item->ssrcs[i] == 0)
            return true;
    return item->ssrc_count == 0;
}

int rate_request_of(const struct rtcp_item *item, int lowest)
{
    if (item->max_rate.bps > INT_MAX)
        return 0;
    int bps = (int)item->max_rate.bps;
    return bps < lowest ? lowest : bps;
}

usec_t rate_request_until(const struct rtcp_item *item, usec_t now)
{
    return item->kind == RTCP_IS_REMB ? now + RATE_REQUEST_REMB_LIFE : USEC_NEVER;
}
