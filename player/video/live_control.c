// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/video/live_control.h"

#include <math.h>

#include "common/base/log.h"

#define WORTH_TELLING 0.01 // of a change of speed

void live_control_init(struct live_control *c, const struct play_options *o, const struct sdp *sdp,
                       struct qoe *qoe, struct trace *events)
{
    bool live = sdp->duration < 0 && sdp->h264;
    *c =
        (struct live_control){.steers = live && !o->low_latency && o->adapt != ADAPT_GODDARD,
                              .told_speed = 1,
                              .untargeted_sender = play_options_latency_ms(o, live) * USEC_PER_MSEC,
                              .qoe = qoe,
                              .events = events};
    struct latency_control_config pace = {.target = c->steers ? o->latency : 0,
                                          .start = o->latency && !o->has_buffer ? 0 : o->buffer};
    latency_control_init(&c->pace, &pace, 0);
    if (o->latency && !live)
        log_warn("this is not live: --latency does nothing");
    if (live && o->low_latency) {
        struct qoe_budget all = {.target = c->untargeted_sender, .sender = c->untargeted_sender};
        qoe_on_budget(qoe, &all);
    }
}

static void tell_budget(const struct live_control *c)
{
    const struct latency_control *l = &c->pace;
    struct qoe_budget budget = {.target = latency_control_target(l),
                                .sender = l->config.target ? latency_control_sender(l)
                                                           : c->untargeted_sender,
                                .buffer = l->wanted_lag};
    if (budget.target) // else it has not settled yet
        qoe_on_budget(c->qoe, &budget);
}

static void warn_short(struct live_control *c)
{
    const struct latency_control *l = &c->pace;
    if (!l->config.target || !l->settled || l->shares.kept || c->told_short)
        return;
    c->told_short = true;
    log_warn("a latency of %.0f ms cannot be kept: the way takes %.0f ms, and the buffer needs "
             "%.0f ms",
             usec_to_msec(l->config.target), usec_to_msec(l->parts.encoder + l->parts.transport),
             usec_to_msec(l->shares.floor));
}

static void tell_speed(struct live_control *c, double speed, usec_t now)
{
    qoe_on_speed(c->qoe, speed, now);
    bool back = speed == 1 && c->told_speed != 1;
    if (fabs(speed - c->told_speed) <= WORTH_TELLING && !back)
        return;
    c->told_speed = speed;
    trace_speed(c->events, speed, now);
    log_debug("playing at speed %.3f", speed);
}

bool live_control_steer(struct live_control *c, struct playout *p, usec_t now)
{
    struct live_steer s;
    if (!c->steers || !latency_control_steer(&c->pace, p, &s, now))
        return false;
    tell_budget(c);
    warn_short(c);
    tell_speed(c, s.speed, now);
    if (s.skipped) {
        qoe_on_skip(c->qoe);
        trace_skip(c->events, s.skipped, now);
        log_info("skipping %.2f s: the latency had grown", usec_to_sec(s.skipped));
    }
    return s.wants_key;
}

double live_control_speed(const struct live_control *c)
{
    return (double)c->pace.catch_up.speed_ppm / MEDIA_CLOCK_UNIT;
}

usec_t live_control_sender(const struct live_control *c)
{
    return c->pace.config.target ? latency_control_sender(&c->pace) : 0;
}
