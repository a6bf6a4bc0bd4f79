// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/report/viewing_trace.h"

// Returns the line of a frame, with its arrival if that is known.
static struct event_frame line_of(int64_t number, int level, const struct frame_arrival *a)
{
    return (struct event_frame){.number = number,
                                .level = a->known ? a->level : level,
                                .bytes = a->known ? (int64_t)a->bytes : -1,
                                .arrived = a->known ? a->at : QOE_UNKNOWN};
}

static void trace_shown(struct trace *t, const struct viewing_event *e)
{
    const struct viewing_shown *s = &e->shown;
    struct event_frame line = line_of(s->figures.number, s->figures.level, &s->arrival);
    usec_t latency = s->figures.latency;
    line.captured = latency == QOE_UNKNOWN ? QOE_UNKNOWN : s->at - latency;
    line.shown = s->at;
    trace_freeze(t, e->freeze, s->at);
    trace_frame(t, &line, e->at);
}

static void trace_lost(struct trace *t, const struct viewing_event *e)
{
    struct event_frame line = line_of(e->lost.why.number, e->lost.level, &e->lost.arrival);
    line.dropped = &e->lost.why;
    trace_frame(t, &line, e->at);
}

static void trace_packet(struct trace *t, const struct viewing_event *e)
{
    const struct viewing_packet *p = &e->packet;
    struct event_adu adu = {.number = p->number,
                            .size_id = p->size_id,
                            .captured = p->captured,
                            .written = p->written,
                            .read = p->read};
    if (p->adu)
        trace_adu(t, &adu, e->at);
}

static void trace_stall(struct trace *t, const struct viewing_event *e)
{
    struct event_stall stall = {
        .cause = e->stall.cause, .number = e->stall.number, .silence = e->stall.silence};
    trace_rebuffer_start(t, &stall, e->at);
    trace_mode(t, "buffering", e->at);
}

void viewing_trace(struct trace *t, const struct viewing_event *e)
{
    switch (e->kind) {
    case VIEWING_PACKET:
        trace_packet(t, e);
        return;
    case VIEWING_START:
        trace_mode(t, "streaming", e->at);
        return;
    case VIEWING_SHOWN:
        trace_shown(t, e);
        return;
    case VIEWING_NOT_SHOWN:
    case VIEWING_SKIPPED:
        trace_lost(t, e);
        return;
    case VIEWING_LEFT_OUT:
        trace_skipped(t, e->range.from, e->range.to, e->range.frames, e->at);
        return;
    case VIEWING_LIVE_BEGIN:
        trace_missed(t, e->missed, e->at);
        return;
    case VIEWING_STALL_BEGIN:
        trace_stall(t, e);
        return;
    case VIEWING_STALL_END:
        trace_rebuffer_end(t, e->stall.cause, e->stall.stalled, e->at);
        trace_mode(t, "streaming", e->at);
        return;
    case VIEWING_REBUFFER:
        trace_freeze(t, e->freeze, e->at);
        trace_mode(t, "buffering", e->at);
        return;
    case VIEWING_SEEK:
        trace_mode(t, "buffering", e->at);
        return;
    case VIEWING_SPEED:
        if (e->speed.told)
            trace_speed(t, e->speed.speed, e->at);
        return;
    case VIEWING_BUDGET:
        if (e->budget.told)
            trace_budget(t, &e->budget, e->at);
        return;
    case VIEWING_SKIP:
        trace_skip(t, e->media, e->at);
        return;
    case VIEWING_LAYERS:
        trace_layers(t, e->layers.number, e->layers.valid, e->at);
        return;
    case VIEWING_LAYER:
    case VIEWING_FRAME: // its line follows when its outcome is known
    case VIEWING_LEVEL: // the program writes its line, with the reason
    case VIEWING_LIVE_END:
    case VIEWING_MISSING:
    case VIEWING_STALL_CUT:
    case VIEWING_PAUSE:
    case VIEWING_RESUME:
    case VIEWING_TOTALS:
    case VIEWING_SHORT:
        return;
    }
}
