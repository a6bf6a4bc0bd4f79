// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/viewing_event.h"

static void tell_qoe(struct qoe *q, struct viewing_event *e)
{
    static const enum qoe_not_shown counts_as[] = {[FRAME_END_LOST] = QOE_LOST,
                                                   [FRAME_END_LATE] = QOE_LATE,
                                                   [FRAME_END_UNDECODABLE] = QOE_UNDECODABLE,
                                                   [FRAME_END_FAILED] = QOE_UNDECODABLE,
                                                   [FRAME_END_SLOW] = QOE_LATE,
                                                   [FRAME_END_UNSEEN] = QOE_LATE};
    switch (e->kind) {
    case VIEWING_PACKET:
        qoe_on_packet(q, &e->packet.figures, e->at);
        return;
    case VIEWING_FRAME:
        qoe_on_frame(q, &e->frame, e->at);
        return;
    case VIEWING_LAYER:
        qoe_on_layer(q, e->layer.bytes);
        return;
    case VIEWING_LAYERS:
        qoe_on_layers(q, &e->layers);
        return;
    case VIEWING_START:
        qoe_on_start(q, e->at);
        return;
    case VIEWING_SHOWN:
        e->freeze = qoe_on_shown(q, &e->shown.figures, e->shown.at);
        return;
    case VIEWING_NOT_SHOWN:
        qoe_on_not_shown(q, counts_as[e->lost.end]);
        return;
    case VIEWING_SKIPPED:
        qoe_on_not_shown(q, QOE_SKIPPED);
        return;
    case VIEWING_LIVE_END:
        qoe_on_live_end(q, &e->edge);
        return;
    case VIEWING_LIVE_BEGIN:
        e->missed = qoe_on_live_begin(q, &e->edge);
        return;
    case VIEWING_MISSING:
        qoe_on_missing(q, e->gap);
        return;
    case VIEWING_STALL_BEGIN:
        qoe_on_stall_begin(q, e->stall.cause, e->at);
        return;
    case VIEWING_STALL_END:
    case VIEWING_STALL_CUT:
        qoe_on_stall_end(q, e->stall.cause, e->at);
        return;
    case VIEWING_PAUSE:
        qoe_on_pause(q, true, e->at);
        return;
    case VIEWING_RESUME:
        qoe_on_pause(q, false, e->at);
        return;
    case VIEWING_REBUFFER:
        e->freeze = qoe_on_rebuffer(q, e->at);
        return;
    case VIEWING_TOTALS:
        qoe_on_frames(q, e->totals);
        return;
    case VIEWING_BUDGET:
        qoe_on_budget(q, &e->budget);
        return;
    case VIEWING_SPEED:
        qoe_on_speed(q, e->speed.speed, e->at);
        return;
    case VIEWING_SKIP:
        qoe_on_skip(q);
        return;
    // The program itself reports a switch of levels with its reason (qoe_on_switch), and a seek
    // when its first picture is shown (qoe_on_seek_shown).
    case VIEWING_LEVEL:
    case VIEWING_SEEK:
    case VIEWING_LEFT_OUT: // counted in VIEWING_TOTALS
    case VIEWING_SHORT:
        return;
    }
}

void viewing_emit(const struct viewing_sink *s, struct viewing_event *e)
{
    if (s->qoe)
        tell_qoe(s->qoe, e);
    if (s->on_event)
        s->on_event(s->ctx, e);
}
