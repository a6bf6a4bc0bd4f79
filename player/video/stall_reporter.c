// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/video/stall_reporter.h"

void stall_reporter_init(struct stall_reporter *t, const struct frame_outcomes *ledger,
                         struct qoe *qoe, struct trace *events, usec_t interval)
{
    *t = (struct stall_reporter){.ledger = ledger, .qoe = qoe, .events = events, .awaited = -1};
    stall_classifier_init(&t->watch, interval);
}

void stall_reporter_begin(struct stall_reporter *t, int64_t awaited, usec_t at, usec_t now)
{
    t->awaited = awaited;
    struct event_stall e = {
        .cause = stall_classifier_begin(&t->watch, frame_outcomes_packets(t->ledger, awaited), now),
        .number = awaited,
        .silence = stall_classifier_silence(&t->watch, now)};
    qoe_on_stall_begin(t->qoe, e.cause, at);
    trace_rebuffer_start(t->events, &e, at);
    trace_mode(t->events, "buffering", at);
}

static enum stall_cause end(struct stall_reporter *t, usec_t at)
{
    enum packets_say say = frame_outcomes_packets(t->ledger, t->awaited);
    enum stall_cause cause = stall_classifier_end(&t->watch, say, at);
    qoe_on_stall_end(t->qoe, cause, at);
    return cause;
}

void stall_reporter_end(struct stall_reporter *t, usec_t stalled, usec_t at)
{
    trace_rebuffer_end(t->events, end(t, at), stalled, at);
    trace_mode(t->events, "streaming", at);
}

void stall_reporter_stop(struct stall_reporter *t, usec_t at)
{
    (void)end(t, at);
}
