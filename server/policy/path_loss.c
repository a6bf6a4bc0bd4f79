// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/path_loss.h"

#include <math.h>

bool path_is_lost(const struct transport_info *info, usec_t *since, usec_t now)
{
    usec_t rtt = info->rtt_ms > 0 ? (usec_t)(info->rtt_ms * USEC_PER_MSEC) : 0;
    usec_t limit = usec_max(PATH_LOSS_TIME, rtt + PATH_LOSS_TIME / 2);
    if (info->unheard_packets < PATH_LOSS_PACKETS)
        limit *= 2;
    // What left a round trip before the last report, and half of one more as it varies.
    *since = now - info->unheard - rtt - rtt / 2;
    return info->unheard_packets > 0 && info->unheard >= limit;
}
