// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/abr_session.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/seq.h"
#include "common/net/timer.h"
#include "common/transport/transport.h"
#include "media/stored/policy/stored_plan.h"

#define GROUP_SECONDS 2 // of a film's group, if its plan is not known
// At most, over a transport that does not follow the network, and of a server that leaves
// frames out.
#define UNPACED_SPEED 1.5
#define OLD_LATENCY   60000 // ms that a frame may wait there
#define MAX_FRAMES    1e9   // of a film; no table has so many

struct abr_session {
    struct level_policy base; // first
    struct abr_session_config config;
    struct timer *timer;       // these are owned
    struct abr_viewer *viewer; // NULL: the transport is not set up yet
    bool on;                   // requests are made
    bool begun;                // PLAY was requested
    bool played;               // and answered
    bool stalled;
    usec_t resume; // media to go on with after a stall, as the player was told
    bool is_fast;  // the transport follows the network
    double pace;   // of playing
    int64_t near;  // number of the last packet's frame
};

static struct abr_session *of(struct level_policy *p)
{
    return (struct abr_session *)p;
}

// ---- Decisions

static void report(const struct abr_session *a, const struct abr_action *act, usec_t now)
{
    const struct abr_decision *d = &act->decision;
    struct qoe_decision e = {.policy = a->config.policy,
                             .level = d->level,
                             .why = abr_reason_name(d->reason),
                             .buffered = act->buffered,
                             .target = a->config.target,
                             .estimate_bps = d->estimate_bps > 0 ? d->estimate_bps : NAN,
                             .error = d->estimate_bps > 0 ? d->error : NAN,
                             .speed = act->speed};
    qoe_on_decision(a->config.qoe, &e);
    trace_decision(a->config.events, &e, now);
}

static void apply(struct abr_session *a, const struct abr_action *act, usec_t now)
{
    struct rtsp_link *link = a->config.link;
    if (act->decided)
        report(a, act, now);
    bool other =
        act->changes_level && a->config.ops->choose_level(a->config.ctx, act->level,
                                                          abr_reason_name(act->decision.reason));
    if (!a->begun) {
        a->begun = true;
        rtsp_client_begin(rtsp_link_client(link), act->level, act->speed, now);
        return;
    }
    if (act->again >= 0)
        rtsp_client_send_again(rtsp_link_client(link), act->again, act->level, now);
    else if (other || act->awaited)
        rtsp_client_set_level(rtsp_link_client(link), act->level, now);
    if (act->changes_speed)
        rtsp_client_set_speed(rtsp_link_client(link), act->speed, now);
    if (other)
        a->config.ops->on_news(a->config.ctx);
}

static void set_resume(struct abr_session *a, usec_t media, usec_t now)
{
    if (media != a->resume)
        a->config.ops->resume(a->config.ctx, media, now);
    a->resume = media;
}

static void drive(struct abr_session *a, usec_t now)
{
    struct abr_buffer buffer;
    struct abr_action act;
    bool stalled = a->config.ops->read_buffer(a->config.ctx, &buffer);
    if (abr_viewer_run(a->viewer, &buffer, &act, now))
        apply(a, &act, now);
    set_resume(a, abr_viewer_resume(a->viewer, &buffer, stalled, now), now);
    if (stalled && !a->stalled)
        a->config.ops->on_news(a->config.ctx);
    a->stalled = stalled;
}

static void start(struct abr_session *a, usec_t now)
{
    a->on = true;
    drive(a, now);
    timer_set(a->timer, now + ABR_VIEWER_SAMPLE);
}

static void on_timer(void *ctx, usec_t now)
{
    struct abr_session *a = ctx;
    if (a->on)
        start(a, now);
}

// ---- Input

// The film's groups, if no table says how long they are.
static int group_frames(const struct ladder *ladder)
{
    struct stored_plan *plan = malloc(sizeof(*plan));
    bool planned = plan && stored_plan_init(plan, ladder) == 0;
    int frames = planned ? plan->gop : (int)ceil(GROUP_SECONDS * fps_value(ladder->source_fps));
    free(plan);
    return frames;
}

static void on_ready(struct level_policy *p, const struct level_policy_path *path, usec_t now)
{
    struct abr_session *a = of(p);
    const struct ladder *ladder = &a->config.sdp->ladder;
    const struct transport_kind *kind;
    const char *params;
    a->is_fast = transport_find(path->transport, &kind, &params) != 0 || kind->measures;
    double frames =
        fmin(round(a->config.sdp->duration * fps_value(ladder->source_fps)), MAX_FRAMES);
    const struct abr_viewer_config config = {
        .policy = a->config.policy,
        .ladder = ladder,
        .frames = frames > 1 ? (int64_t)frames : 1,
        .group_frames = group_frames(ladder),
        .target = usec_min(usec_max(a->config.target, ABR_VIEWER_MIN_TARGET), ABR_MAX_TARGET),
        .max_speed = a->is_fast ? ABR_VIEWER_FAST : UNPACED_SPEED};
    int err = abr_viewer_new(&config, &a->viewer);
    if (err) {
        log_warn("the level does not follow the network: %s", err_text(err));
        rtsp_client_begin(rtsp_link_client(a->config.link), -1, 1, now);
        return;
    }
    abr_viewer_set_pace(a->viewer, a->pace);
    abr_viewer_set_rtt(a->viewer, path->rtt);
    if (a->config.level >= 0)
        abr_viewer_choose(a->viewer, a->config.level);
    if (a->is_fast && abr_viewer_awaits(a->viewer))
        rtsp_client_await_level(rtsp_link_client(a->config.link));
    start(a, now);
}

static void on_end(struct level_policy *p)
{
    of(p)->on = false;
    timer_set(of(p)->timer, USEC_NEVER);
}

// PLAY was answered. A server of today sends a film as fast as the network takes it and leaves no
// frame out; another one says so by the speed that it grants.
static void on_played(struct abr_session *a, const struct level_policy_position *place, usec_t now)
{
    a->played = true;
    if (a->is_fast && place->speed > 0 && place->speed < 0.95 * ABR_VIEWER_FIRST) {
        log_warn(
            "the server sends films at %g times their pace at most: it is older, and may leave "
            "frames out",
            place->speed);
        abr_viewer_limit_speed(a->viewer, UNPACED_SPEED);
        rtsp_client_set_latency(rtsp_link_client(a->config.link), OLD_LATENCY, now);
    }
    if (!abr_viewer_adapts(a->viewer))
        a->config.ops->on_news(a->config.ctx);
    rtsp_link_ask_film_table(a->config.link, a->config.sdp, now);
}

static void on_table(struct level_policy *p, struct film_table *table, usec_t now)
{
    struct abr_session *a = of(p);
    int err = ERR_NOT_FOUND;
    (void)now;
    if (table && a->viewer)
        err = abr_viewer_set_table(a->viewer, table);
    else
        film_table_free(table);
    if (err == ERR_RANGE)
        log_warn("the film's table is of another film: the level follows its mean bit rates");
    else if (err)
        log_info("the film has no table: the level follows its mean bit rates");
}

// The policy judges normal play only: at another scale the server leaves frames out.
static void on_place(struct level_policy *p, const struct level_policy_position *place, usec_t now)
{
    struct abr_session *a = of(p);
    if (!a->viewer)
        return;
    if (!a->played)
        on_played(a, place, now);
    if (place->scale != 1) {
        on_end(p);
        set_resume(a, ABR_VIEWER_RESUME, now);
        return;
    }
    if (place->show >= 0 && isfinite(place->seconds)) {
        double frame = round(place->seconds * fps_value(a->config.sdp->ladder.source_fps));
        abr_viewer_place(a->viewer, place->show, (int64_t)frame, place->jumps, now);
        a->near = place->show;
        if (place->until > place->show)
            abr_viewer_await(a->viewer, place->until);
    }
    if (place->jumps)
        start(a, now);
}

static void on_packet(struct level_policy *p, const struct rtp_packet *packet, int64_t sequence,
                      usec_t arrived, usec_t now)
{
    struct abr_session *a = of(p);
    (void)arrived;
    if (!a->on)
        return;
    a->near = seq32_extend(a->near, packet->adu.frame);
    const struct abr_packet in = {.number = a->near,
                                  .slot = a->near + packet->adu.reorder,
                                  .sequence = sequence,
                                  .level = packet->adu.level,
                                  .bytes = packet->payload_len,
                                  .last = packet->adu.last && !packet->adu.on_lower};
    if (abr_viewer_packet(a->viewer, &in, now))
        drive(a, now);
}

static void on_beside(struct level_policy *p, size_t bytes, usec_t now)
{
    if (of(p)->on)
        abr_viewer_beside(of(p)->viewer, bytes, now);
}

static void on_rtt(struct level_policy *p, usec_t rtt)
{
    if (of(p)->viewer)
        abr_viewer_set_rtt(of(p)->viewer, rtt);
}

static void on_pause(struct level_policy *p, bool pause, usec_t now)
{
    struct abr_session *a = of(p);
    (void)now;
    if (a->viewer)
        abr_viewer_pause(a->viewer, pause);
}

static void on_pace(struct level_policy *p, double pace, usec_t now)
{
    struct abr_session *a = of(p);
    a->pace = pace;
    if (!a->viewer)
        return;
    abr_viewer_set_pace(a->viewer, pace);
    if (a->on)
        drive(a, now);
}

static void on_release(struct level_policy *p, int level, usec_t now)
{
    struct abr_session *a = of(p);
    (void)now;
    if (a->viewer)
        abr_viewer_choose(a->viewer, level);
}

static void on_engage(struct level_policy *p, usec_t now)
{
    on_release(p, ABR_NO_LEVEL, now);
}

static void text(const struct level_policy *p, char out[LEVEL_POLICY_TEXT])
{
    const struct abr_session *a = (const struct abr_session *)p;
    static_assert((int)ABR_VIEWER_TEXT <= (int)LEVEL_POLICY_TEXT, "the text fits");
    if (a->viewer)
        abr_viewer_text(a->viewer, out);
}

// ---- Life

static void destroy(struct level_policy *p)
{
    struct abr_session *a = of(p);
    abr_viewer_free(a->viewer);
    timer_free(a->timer);
    free(a);
}

struct level_policy *abr_session_new(const struct abr_session_config *config)
{
    static const struct level_policy_ops ops = {.free = destroy,
                                                .ready = on_ready,
                                                .place = on_place,
                                                .table = on_table,
                                                .packet = on_packet,
                                                .beside = on_beside,
                                                .rtt = on_rtt,
                                                .pause = on_pause,
                                                .pace = on_pace,
                                                .release = on_release,
                                                .engage = on_engage,
                                                .end = on_end,
                                                .text = text};
    struct abr_session *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    a->base.ops = &ops;
    a->resume = ABR_VIEWER_RESUME;
    a->pace = 1;
    a->config = *config;
    a->timer = timer_new(config->loop, on_timer, a);
    if (a->timer)
        return &a->base;
    free(a);
    return NULL;
}
