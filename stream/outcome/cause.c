// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/outcome/cause.h"

const char *frame_cause_text(enum frame_cause cause)
{
    static const char *const texts[FRAME_CAUSES] = {
        [CAUSE_NETWORK] = "network",       [CAUSE_LATE] = "late",
        [CAUSE_SENDER] = "sender",         [CAUSE_PROXY] = "proxy",
        [CAUSE_DEPENDENCY] = "dependency", [CAUSE_DECODER] = "decoder",
        [CAUSE_DISPLAY] = "display",       [CAUSE_SKIPPED] = "skipped",
        [CAUSE_OUTAGE] = "outage",
    };
    return texts[cause];
}

const char *stall_cause_text(enum stall_cause cause)
{
    static const char *const texts[STALL_CAUSES] = {
        [STALL_NETWORK] = "network", [STALL_TRANSPORT] = "transport", [STALL_OUTAGE] = "outage",
        [STALL_SENDER] = "sender",   [STALL_DISPLAY] = "display",     [STALL_LOST] = "server-lost",
    };
    return texts[cause];
}

const char *freeze_cause_text(enum freeze_cause cause)
{
    static const char *const texts[FREEZE_CAUSES] = {
        [FREEZE_NETWORK] = "network",
        [FREEZE_TRANSPORT] = "transport",
        [FREEZE_SENDER] = "sender",
        [FREEZE_LATE] = "late",
        [FREEZE_PROXY] = "proxy",
        [FREEZE_DISPLAY] = "display",
        [FREEZE_UNDECODABLE] = "undecodable",
        [FREEZE_SKIPPED] = "skipped",
        [FREEZE_LOST] = "server-lost",
        [FREEZE_OUTAGE] = "outage",
    };
    return texts[cause];
}

enum freeze_cause freeze_cause_of_stall(enum stall_cause cause)
{
    static const enum freeze_cause causes[STALL_CAUSES] = {
        [STALL_NETWORK] = FREEZE_NETWORK, [STALL_TRANSPORT] = FREEZE_TRANSPORT,
        [STALL_OUTAGE] = FREEZE_OUTAGE,   [STALL_SENDER] = FREEZE_SENDER,
        [STALL_DISPLAY] = FREEZE_DISPLAY, [STALL_LOST] = FREEZE_LOST,
    };
    return causes[cause];
}

enum freeze_cause freeze_cause_of_frame(enum frame_cause root)
{
    static const enum freeze_cause causes[FRAME_CAUSES] = {
        [CAUSE_NETWORK] = FREEZE_NETWORK,        [CAUSE_LATE] = FREEZE_LATE,
        [CAUSE_SENDER] = FREEZE_SENDER,          [CAUSE_PROXY] = FREEZE_PROXY,
        [CAUSE_DEPENDENCY] = FREEZE_UNDECODABLE, [CAUSE_DECODER] = FREEZE_UNDECODABLE,
        [CAUSE_DISPLAY] = FREEZE_DISPLAY,        [CAUSE_SKIPPED] = FREEZE_SKIPPED,
        [CAUSE_OUTAGE] = FREEZE_OUTAGE,
    };
    return causes[root];
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
