// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/video/latency_reporter.h"

#include <math.h>
#include <stdlib.h>

void latency_reporter_init(struct latency_reporter *r)
{
    *r = (struct latency_reporter){.told_speed = 1};
}

static void emit(const struct viewing_sink *sink, struct viewing_event e)
{
    viewing_emit(sink, &e);
}

static bool differs(const struct qoe_budget *a, const struct qoe_budget *b)
{
    return llabs(a->target - b->target) >= LATENCY_REPORTER_STEP ||
           llabs(a->buffer - b->buffer) >= LATENCY_REPORTER_STEP;
}

void latency_reporter_steered(struct latency_reporter *r, const struct viewing_sink *sink,
                              const struct latency_control *l, usec_t sender_share,
                              const struct live_steer *s, usec_t now)
{
    enum latency_mode mode = l->config.mode;
    bool divides = mode == LATENCY_AUTO || mode == LATENCY_FIXED;
    struct qoe_budget budget = {.mode = latency_mode_name(mode),
                                .target = latency_control_target(l),
                                .sender = divides ? latency_control_sender(l) : sender_share,
                                .buffer = l->wait + l->parts.display};
    if (budget.target) { // else it is not known yet
        budget.told = differs(&budget, &r->told_budget);
        if (budget.told)
            r->told_budget = budget;
        emit(sink, (struct viewing_event){.kind = VIEWING_BUDGET, .at = now, .budget = budget});
    }
    if (mode == LATENCY_FIXED && l->settled && !l->shares.kept && !r->told_short) {
        r->told_short = true;
        struct viewing_latency parts = {.target = l->config.target,
                                        .encoder = l->parts.encoder,
                                        .transport = l->parts.transport,
                                        .buffer = l->shares.buffer};
        emit(sink, (struct viewing_event){.kind = VIEWING_SHORT, .at = now, .latency = parts});
    }
    bool back = s->speed == 1 && r->told_speed != 1;
    bool told = fabs(s->speed - r->told_speed) > LATENCY_REPORTER_WORTH || back;
    if (told)
        r->told_speed = s->speed;
    emit(sink, (struct viewing_event){.kind = VIEWING_SPEED, .at = now, .speed = {s->speed, told}});
    if (s->skipped)
        emit(sink, (struct viewing_event){.kind = VIEWING_SKIP, .at = now, .media = s->skipped});
}
