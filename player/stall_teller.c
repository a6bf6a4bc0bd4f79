// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/stall_teller.h"

void stall_teller_init(struct stall_teller *t, const struct frame_ledger *ledger, struct qoe *qoe,
                       struct events *events, usec_t interval)
{
    *t = (struct stall_teller){.ledger = ledger, .qoe = qoe, .events = events, .awaited = -1};
    stall_watch_init(&t->watch, interval);
}

void stall_teller_begin(struct stall_teller *t, int64_t awaited, usec_t at, usec_t now)
{
    t->awaited = awaited;
    struct event_stall e = {
        .cause = stall_watch_begin(&t->watch, frame_ledger_packets(t->ledger, awaited), now),
        .number = awaited,
        .silence = stall_watch_silence(&t->watch, now)};
    qoe_on_stall_begin(t->qoe, e.cause, at);
    events_rebuffer_start(t->events, &e, at);
    events_mode(t->events, "buffering", at);
}

static enum stall_cause end(struct stall_teller *t, usec_t at)
{
    enum packets_say say = frame_ledger_packets(t->ledger, t->awaited);
    enum stall_cause cause = stall_watch_end(&t->watch, say, at);
    qoe_on_stall_end(t->qoe, cause, at);
    return cause;
}

void stall_teller_end(struct stall_teller *t, usec_t stalled, usec_t at)
{
    events_rebuffer_end(t->events, end(t, at), stalled, at);
    events_mode(t->events, "streaming", at);
}

void stall_teller_stop(struct stall_teller *t, usec_t at)
{
    (void)end(t, at);
}
