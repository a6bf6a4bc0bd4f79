// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/read_pace.h"

usec_t read_pace_due(usec_t begun, int64_t bytes)
{
    int64_t over = bytes - READ_PACE_FREE;
    if (over <= 0)
        return begun;
    return begun + over / READ_PACE_RATE * USEC_PER_SEC +
           over % READ_PACE_RATE * USEC_PER_SEC / READ_PACE_RATE;
}
