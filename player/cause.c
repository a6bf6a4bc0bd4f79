// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/cause.h"

const char *frame_cause_text(enum frame_cause cause)
{
    static const char *const texts[FRAME_CAUSES] = {
        [CAUSE_NETWORK] = "network",       [CAUSE_LATE] = "late",       [CAUSE_SENDER] = "sender",
        [CAUSE_DEPENDENCY] = "dependency", [CAUSE_DECODER] = "decoder", [CAUSE_DISPLAY] = "display",
        [CAUSE_SKIPPED] = "skipped",
    };
    return texts[cause];
}

const char *stall_cause_text(enum stall_cause cause)
{
    static const char *const texts[STALL_CAUSES] = {
        [STALL_NETWORK] = "network", [STALL_TRANSPORT] = "transport", [STALL_OUTAGE] = "outage",
        [STALL_SENDER] = "sender",   [STALL_LOST] = "server-lost",
    };
    return texts[cause];
}

void frame_totals_add(struct frame_totals *sum, const struct frame_totals *more)
{
    sum->expected += more->expected;
    sum->shown += more->shown;
    for (int c = 0; c < FRAME_CAUSES; c++) {
        sum->by_cause[c] += more->by_cause[c];
        sum->by_root[c] += more->by_root[c];
    }
}
