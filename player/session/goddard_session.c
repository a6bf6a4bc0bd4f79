// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/goddard_session.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/random.h"
#include "common/net/timer.h"
#include "stream/goddard/goddard_inputs.h"

struct goddard_session {
    struct level_policy base; // first
    struct goddard_session_config config;
    struct timer *timer; // owned
    bool on;             // the policy runs
    int64_t show;        // frames below this number do not count
    bool begun;          // PLAY was requested
    bool pairs;
    struct goddard_inputs inputs;
    bool capacity_reported;
    double capacity_bps; // capacity reported last
};

static struct goddard_session *of(struct level_policy *p)
{
    return (struct goddard_session *)p;
}

// ---- Decisions of the policy ----

static void report_capacity(struct goddard_session *g, usec_t now)
{
    double bps = goddard_capacity_bps(&g->inputs.policy);
    if (g->capacity_reported && (isnan(bps) || bps == g->capacity_bps))
        return;
    g->capacity_reported = true;
    g->capacity_bps = bps;
    qoe_on_capacity(g->config.qoe, bps);
    trace_capacity(g->config.events, bps, g->pairs ? "pair" : "media",
                   goddard_inputs_span(&g->inputs), now);
}

static void apply(struct goddard_session *g, const struct goddard_action *a, usec_t now)
{
    struct rtsp_link *link = g->config.link;
    const char *reason = goddard_reason_name(a->reason);
    log_info("goddard: %s (%s), level %d, speed %g", goddard_state_name(a->state), reason, a->level,
             a->speed);
    if (a->reason == GODDARD_WHY_CAPACITY || a->reason == GODDARD_WHY_NO_CAPACITY)
        report_capacity(g, now);
    if (a->ask_pair)
        rtsp_client_ask_pair(rtsp_link_client(link), goddard_inputs_ask(&g->inputs), now);
    if (a->level < 0)
        return;
    bool other = g->config.choose_level(g->config.ctx, a->level, reason);
    if (!g->begun) {
        g->begun = true;
        rtsp_client_begin(rtsp_link_client(link), a->level, a->speed, now);
        return;
    }
    if (other)
        rtsp_client_set_level(rtsp_link_client(link), a->level, now);
    rtsp_client_set_speed(rtsp_link_client(link), a->speed, now);
}

static void drive(struct goddard_session *g, usec_t now)
{
    struct goddard_action a;
    while (goddard_poll(&g->inputs.policy, &a))
        apply(g, &a, now);
    timer_set(g->timer, goddard_next_timeout(&g->inputs.policy));
}

static void on_timer(void *ctx, usec_t now)
{
    struct goddard_session *g = ctx;
    if (!g->on)
        return;
    goddard_on_timeout(&g->inputs.policy, now);
    drive(g, now);
}

// ---- Input of the policy ----

static void on_ready(struct level_policy *p, const struct level_policy_path *path, usec_t now)
{
    struct goddard_session *g = of(p);
    uint32_t random = 0;
    if (!random_fill(&random, sizeof(random)))
        random = (uint32_t)clock_wall();
    g->pairs = path->pairs;
    struct goddard_config config = {.ladder = g->config.ladder,
                                    .params = g->config.params,
                                    .probe = path->pairs ? GODDARD_BY_PAIR : GODDARD_BY_MEDIA,
                                    .start_level = g->config.ladder->level_count - 1,
                                    .loses_frames = true};
    goddard_inputs_init(&g->inputs, &config, random & INT32_MAX / 2, now);
    goddard_inputs_rtt(&g->inputs, path->rtt);
    g->on = true;
    drive(g, now);
}

static void on_pair(struct level_policy *p, const struct capacity_packet *packet, size_t bytes,
                    usec_t arrived, usec_t now)
{
    struct goddard_session *g = of(p);
    if (!g->on)
        return;
    goddard_inputs_pair(&g->inputs, packet, bytes, arrived, now);
    drive(g, now);
    if (g->capacity_reported) // a late result of a probe that had ended
        report_capacity(g, now);
}

static void on_no_pair(struct level_policy *p, usec_t now)
{
    struct goddard_session *g = of(p);
    if (!g->on)
        return;
    goddard_on_no_pair(&g->inputs.policy, now);
    drive(g, now);
}

static void on_packet(struct level_policy *p, const struct rtp_packet *packet, int64_t sequence,
                      usec_t arrived, usec_t now)
{
    struct goddard_session *g = of(p);
    (void)sequence;
    if (!g->on || (int32_t)(packet->adu.frame - (uint32_t)g->show) < 0)
        return;
    struct goddard_media m = {.number = packet->adu.frame,
                              .reorder = packet->adu.reorder,
                              .level = packet->adu.level,
                              .bytes = packet->payload_len,
                              .arrived = arrived};
    goddard_inputs_media(&g->inputs, &m, now);
    drive(g, now);
}

static void on_frame(struct level_policy *p, int64_t number, usec_t buffered, usec_t now)
{
    struct goddard_session *g = of(p);
    if (!g->on)
        return;
    goddard_inputs_whole(&g->inputs, number, buffered, now);
    drive(g, now);
}

static void on_empty(struct level_policy *p, usec_t now)
{
    struct goddard_session *g = of(p);
    if (!g->on)
        return;
    goddard_on_empty(&g->inputs.policy, now);
    drive(g, now);
}

static void on_pause(struct level_policy *p, bool pause, usec_t now)
{
    struct goddard_session *g = of(p);
    if (!g->on)
        return;
    if (pause)
        goddard_on_pause(&g->inputs.policy, now);
    else
        goddard_inputs_resume(&g->inputs, now);
    drive(g, now);
}

static void on_end(struct level_policy *p)
{
    of(p)->on = false;
}

// The policy judges normal play only: at another scale the server leaves frames out.
static void on_place(struct level_policy *p, const struct level_policy_position *place, usec_t now)
{
    struct goddard_session *g = of(p);
    if (!place->jumps)
        return;
    if (place->scale != 1) {
        on_end(p);
        return;
    }
    if (!g->begun)
        return;
    g->on = true;
    g->show = place->show;
    goddard_inputs_seek(&g->inputs, now);
    drive(g, now);
}

// ---- Life ----

static void destroy(struct level_policy *p)
{
    timer_free(of(p)->timer);
    free(p);
}

struct level_policy *goddard_session_new(const struct goddard_session_config *config)
{
    // The viewer of this policy cannot choose a level.
    static const struct level_policy_ops ops = {.free = destroy,
                                                .ready = on_ready,
                                                .pair = on_pair,
                                                .no_pair = on_no_pair,
                                                .place = on_place,
                                                .packet = on_packet,
                                                .frame = on_frame,
                                                .empty = on_empty,
                                                .pause = on_pause,
                                                .end = on_end};
    struct goddard_session *g = calloc(1, sizeof(*g));
    if (!g)
        return NULL;
    g->base.ops = &ops;
    g->config = *config;
    g->timer = timer_new(config->loop, on_timer, g);
    if (g->timer)
        return &g->base;
    free(g);
    return NULL;
}
