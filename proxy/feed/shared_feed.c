// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/shared_feed.h"

#include <stdlib.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "proxy/bridge/flow_viewer.h"
#include "proxy/feed/viewer_end.h"
#include "proxy/policy/key_requests.h"
#include "proxy/policy/level_choice.h"
#include "server/session/session.h"

#define REFUSED_FOR (5 * USEC_PER_SEC) // no other flow is tried after one was refused

struct shared_feed {
    struct viewer_end end; // first
    struct shared_feed_config config;
    struct flow_viewer viewer;
    struct flow_seat seats[LADDER_MAX_SIZES]; // by flow

    bool watches; // it has a seat
    int level;    // the viewer's choices
    bool follows;
    struct level_choice choice;
    int chosen;       // of them and of its access
    usec_t retune_at; // the flow of `chosen` is joined then; USEC_NEVER: it has been
    usec_t refused_until;
    struct key_budget budget;

    int64_t audio_last, audio_from; // positions; packets before the second come twice
    usec_t second_at;
};

static const struct ladder *ladder_of(const struct shared_feed *f)
{
    return &f->config.origin->media->ladder;
}

static struct shared_upstream *flow_of(const struct shared_feed *f, int flow)
{
    return shared_stream_flow(f->config.stream, flow);
}

// The flow that frames come from, or that is awaited; NULL: none.
static struct shared_upstream *current(const struct shared_feed *f)
{
    return f->viewer.current == FLOW_NONE ? NULL : flow_of(f, f->viewer.current);
}

static bool gets_frames(const struct shared_feed *f)
{
    return f->watches && current(f) && shared_upstream_plays(current(f));
}

static bool is_alone(const struct media_feed *feed)
{
    const struct shared_feed *f = (const struct shared_feed *)feed;
    return shared_stream_viewers(f->config.stream) <= f->watches;
}

static void arm(struct viewer_end *end)
{
    struct shared_feed *f = (struct shared_feed *)end;
    usec_t when = usec_min(viewer_end_next_timeout(end), f->retune_at);
    if (gets_frames(f))
        when = usec_min(when, access_leg_next_timeout(f->end.leg));
    if (f->watches)
        when = usec_min(when, f->second_at);
    timer_set(f->end.timer, when);
}

// ---- The viewer's request for a place

static bool read_clock(struct shared_feed *f)
{
    usec_t ahead;
    bool knows = current(f) && shared_upstream_has_clock(current(f), &ahead);
    if (knows)
        f->end.base.wall_ahead = ahead;
    return knows;
}

// The flow plays: the answer waits for its clock at most.
static void set_clock_limit(struct shared_feed *f, usec_t now)
{
    if (viewer_end_waits(&f->end))
        viewer_end_await_clock(&f->end, !read_clock(f), now);
}

// ---- Flows

// Leaves the flows of which no frames are taken or awaited.
static void leave_others(struct shared_feed *f, usec_t now)
{
    for (int i = 0; i < ladder_of(f)->size_count; i++)
        if (i != f->viewer.current && i != f->viewer.next)
            shared_upstream_leave(&f->seats[i], now);
}

static void unwatch(struct shared_feed *f, usec_t now)
{
    if (!f->watches)
        return;
    f->watches = false;
    shared_stream_watch(f->config.stream, -1);
    flow_viewer_leave(&f->viewer);
    leave_others(f, now);
    f->retune_at = USEC_NEVER;
    f->choice = (struct level_choice){0};
}

// Tells the flows what this viewer asks for, as of now.
static void update_demand(struct shared_feed *f, usec_t now)
{
    for (int i = 0; i < ladder_of(f)->size_count; i++)
        if (f->seats[i].u)
            shared_upstream_demand(f->seats[i].u, now);
}

// Joins the flow of the chosen level, and leaves those that are of no use any more. Returns false
// if there is no memory.
static bool tune(struct shared_feed *f, usec_t now)
{
    int flow = ladder_of(f)->levels[f->chosen].size_id;
    struct flow_seat *seat = &f->seats[flow];
    struct shared_upstream *u = flow_of(f, flow);
    f->retune_at = USEC_NEVER;
    if (f->chosen != f->viewer.level)
        log_debug("viewer %d: level %d of the shared ones", f->end.sink->number, f->chosen);
    seat->demand.level = f->chosen;
    if (!seat->u && shared_upstream_join(u, seat, now) != 0)
        return false;
    shared_upstream_demand(u, now);
    flow_viewer_set_level(&f->viewer, f->chosen);
    flow_viewer_join(&f->viewer, flow, shared_upstream_runs(u));
    leave_others(f, now);
    if (flow_viewer_waits(&f->viewer, flow))
        shared_upstream_want_key(u, true, now);
    return true;
}

// A viewer cannot change its flow inside the call that brings a frame.
static void choose_level(struct shared_feed *f, usec_t now)
{
    struct level_choice_inputs in = {.level = f->level,
                                     .level_bps = ladder_of(f)->levels[f->level].bitrate_bps,
                                     .alone = is_alone(&f->end.base),
                                     .target = f->config.origin->choices->target};
    access_leg_read(f->end.leg, &in);
    in.follows &= f->follows && in.adapted >= 0;
    int level = level_choice_of(&f->choice, &in);
    if (level == f->chosen || now < f->refused_until)
        return;
    f->chosen = level;
    f->retune_at = now;
}

// ---- From the flows

static void on_playing(struct flow_seat *s, usec_t now)
{
    struct shared_feed *f = s->ctx;
    if (s->flow != f->viewer.current)
        return;
    access_leg_begin(f->end.leg, now);
    set_clock_limit(f, now);
    arm(&f->end);
}

// A request that waits is answered when the origin is back.
static void on_lost(struct flow_seat *s)
{
    struct shared_feed *f = s->ctx;
    if (s->flow == f->viewer.current)
        viewer_end_on_lost(&f->end);
    arm(&f->end);
}

// Returns true if the flow was only awaited: the viewer stays in its own.
static bool was_awaited(struct shared_feed *f, const struct flow_seat *s, usec_t now)
{
    if (s->flow == f->viewer.current)
        return false;
    f->refused_until = now + REFUSED_FOR;
    f->chosen = f->viewer.level;
    flow_viewer_join(&f->viewer, f->viewer.current, false);
    return true;
}

static void on_refused(struct flow_seat *s, const struct media_refusal *why, usec_t now)
{
    struct shared_feed *f = s->ctx;
    if (was_awaited(f, s, now))
        return;
    unwatch(f, now);
    if (f->end.requested)
        viewer_end_refuse(&f->end, why, now);
    else
        f->end.sink->ops->on_end(f->end.sink, why->text, now);
    arm(&f->end);
}

static void on_over(struct flow_seat *s, const struct media_refusal *why, usec_t now)
{
    struct shared_feed *f = s->ctx;
    if (was_awaited(f, s, now))
        return;
    unwatch(f, now);
    viewer_end_refuse(&f->end, why, now);
    f->end.sink->ops->on_end(f->end.sink, why->text, now);
    arm(&f->end);
}

static void on_restart(struct flow_seat *s, usec_t now)
{
    (void)now;
    struct shared_feed *f = s->ctx;
    flow_viewer_restart(&f->viewer, s->flow);
    if (s->flow == f->viewer.current)
        bridge_restart(access_leg_bridge(f->end.leg));
}

static void take(struct shared_feed *f, int flow, struct shared_frame *frame, usec_t now);

// The viewer starts with this key frame: what came before it and depends on it follows.
static void start(struct shared_feed *f, int flow, const struct shared_frame *key, usec_t now)
{
    struct shared_frame *after[RECENT_FRAMES];
    int count = shared_upstream_recent(flow_of(f, flow), key->head.number, after);
    for (int i = 0; i < count; i++)
        take(f, flow, after[i], now);
}

static void take(struct shared_feed *f, int flow, struct shared_frame *frame, usec_t now)
{
    int level;
    struct bridge *bridge = access_leg_bridge(f->end.leg);
    enum flow_verdict verdict = flow_viewer_take(&f->viewer, flow, &frame->head, &level);
    if (verdict == FLOW_OTHER)
        return;
    if (verdict == FLOW_LEFT_OUT) {
        bridge_leave_out(bridge, &frame->head);
        return;
    }
    if (verdict == FLOW_SWITCHED) {
        f->audio_from = f->audio_last + 1;
        leave_others(f, now);
    }
    if (verdict != FLOW_TAKEN) // another flow's numbers
        bridge_restart(bridge);
    bridge_shared_frame(bridge, frame, level, now);
    if (verdict != FLOW_TAKEN)
        start(f, flow, frame, now);
}

static void on_frame(struct flow_seat *s, struct shared_frame *frame, usec_t now)
{
    struct shared_feed *f = s->ctx;
    if (s->flow == f->viewer.current)
        access_leg_before_frame(f->end.leg, frame->head.last_arrived, now);
    take(f, s->flow, frame, now);
    choose_level(f, now);
    arm(&f->end);
}

static void on_audio(struct flow_seat *s, struct coded_audio *c, usec_t now)
{
    struct shared_feed *f = s->ctx;
    if (s->flow != f->viewer.current || !viewer_end_takes(&f->end) || c->position < f->audio_from)
        return;
    if (c->position > f->audio_last)
        f->audio_last = c->position;
    f->end.sink->ops->on_audio(f->end.sink, c, now);
}

static void on_nacked(struct flow_seat *s, usec_t now)
{
    struct shared_feed *f = s->ctx;
    if (s->flow == f->viewer.current)
        bridge_nacked(access_leg_bridge(f->end.leg), now);
}

static void on_clock(struct flow_seat *s, usec_t now)
{
    struct shared_feed *f = s->ctx;
    if (s->flow != f->viewer.current || !read_clock(f))
        return;
    viewer_end_on_clock(&f->end, now);
    arm(&f->end);
}

// ---- From the bridge

static void forward(void *ctx, struct coded_frame *frame, usec_t now)
{
    struct shared_feed *f = ctx;
    if (f->end.plays || f->end.requested) // otherwise the viewer pauses
        viewer_end_forward(&f->end, frame, now);
}

static void limit(void *ctx, double bps, usec_t now)
{
    struct shared_feed *f = ctx;
    for (int i = 0; i < LADDER_MAX_SIZES; i++)
        f->seats[i].demand.limit_bps = bps;
    update_demand(f, now);
}

static struct flow_seat *current_seat(struct shared_feed *f)
{
    return f->viewer.current == FLOW_NONE ? NULL : &f->seats[f->viewer.current];
}

static void mark(void *ctx, int packets, usec_t now)
{
    (void)now;
    struct flow_seat *s = current_seat(ctx);
    if (s)
        shared_upstream_mark(s, packets);
}

static void stop_reading(void *ctx, bool stop, usec_t now)
{
    struct flow_seat *s = current_seat(ctx);
    if (s)
        shared_upstream_hold(s, stop, now);
}

static void bridge_request_key(void *ctx, usec_t now)
{
    struct shared_feed *f = ctx;
    if (gets_frames(f))
        shared_upstream_want_key(current(f), false, now);
}

// ---- The feed

static void on_timer(void *ctx, usec_t now)
{
    struct shared_feed *f = ctx;
    viewer_end_on_timeout(&f->end, now);
    if (f->watches && now >= f->retune_at && !tune(f, now))
        f->refused_until = now + REFUSED_FOR;
    if (f->watches && now >= f->second_at) {
        f->second_at = now + USEC_PER_SEC;
        access_leg_second(f->end.leg, current(f) ? shared_upstream_rtt(current(f)) : 0);
    }
    if (gets_frames(f))
        access_leg_on_timeout(f->end.leg, now);
    arm(&f->end);
}

// Live media has no place.
static void answer_place(struct viewer_end *end, usec_t now)
{
    viewer_end_answer(end, MEDIA_NOWHERE, now);
}

static void give_up(struct viewer_end *end, usec_t now)
{
    unwatch((struct shared_feed *)end, now);
}

static void begin_request(struct viewer_end *end, const struct media_seek *to, usec_t now)
{
    (void)to;
    struct shared_feed *f = (struct shared_feed *)end;
    if (!f->watches) {
        f->watches = true;
        shared_stream_watch(f->config.stream, 1);
        frame_store_clear(f->end.store);
        f->second_at = now + USEC_PER_SEC;
        f->audio_from = f->audio_last = INT64_MIN;
        f->chosen = f->level;
        access_leg_begin(f->end.leg, now);
        if (!tune(f, now)) {
            struct media_refusal why = {.status = 503, .text = "out of memory"};
            unwatch(f, now);
            viewer_end_refuse(&f->end, &why, now);
            return;
        }
    }
    if (gets_frames(f))
        set_clock_limit(f, now);
}

static void play(struct media_feed *feed, bool plays)
{
    struct shared_feed *f = (struct shared_feed *)feed;
    viewer_end_play(&f->end, plays);
    if (!plays)
        unwatch(f, clock_now());
    arm(&f->end);
}

static void want_key(struct shared_feed *f, usec_t now)
{
    bool alone = current(f) && shared_upstream_seats(current(f)) <= 1;
    if (gets_frames(f) && key_budget_take(&f->budget, alone, now))
        shared_upstream_want_key(current(f), false, now);
}

static void request_key(struct media_feed *feed, int size_id, usec_t now)
{
    (void)size_id;
    want_key((struct shared_feed *)feed, now);
}

// A frame that the origin's encoder does not know to be missing was dropped here. Later frames of
// the base layer depend on it.
static void repair(struct media_feed *feed, int size_id, int64_t number)
{
    struct shared_feed *f = (struct shared_feed *)feed;
    const struct ladder *l = ladder_of(f);
    const struct size_spec *size = &l->sizes[size_id];
    int64_t index = size_index_of_frame(size->fps, l->source_fps, number);
    if (index >= 0 && layer_temporal_id(index, size->layers) == 0)
        want_key(f, clock_now());
}

static void set_level(struct media_feed *feed, int level, bool follows)
{
    struct shared_feed *f = (struct shared_feed *)feed;
    bool changes = level != f->level || follows != f->follows;
    f->level = level;
    f->follows = follows;
    for (int i = 0; i < LADDER_MAX_SIZES; i++)
        f->seats[i].demand.follows = follows;
    if (changes && f->watches) {
        f->refused_until = 0;
        choose_level(f, clock_now());
        arm(&f->end);
    }
}

static void set_latency(struct media_feed *feed, int ms)
{
    struct shared_feed *f = (struct shared_feed *)feed;
    for (int i = 0; i < LADDER_MAX_SIZES; i++)
        f->seats[i].demand.latency_ms = access_leg_origin_latency(ms);
    update_demand(f, clock_now());
}

static void set_playout(struct media_feed *feed, int ms)
{
    struct shared_feed *f = (struct shared_feed *)feed;
    for (int i = 0; i < LADDER_MAX_SIZES; i++)
        f->seats[i].demand.playout_ms = ms;
    update_demand(f, clock_now());
}

static void relay_info(const struct media_feed *feed, struct relay_info *out, usec_t now)
{
    const struct shared_feed *f = (const struct shared_feed *)feed;
    *out = relay_info_unknown();
    access_leg_info(f->end.leg, out);
    if (!current(f))
        return;
    out->backbone_away_s = usec_to_sec(shared_upstream_away(current(f), now));
    out->proxy_viewers = shared_upstream_seats(current(f));
    if (shared_upstream_session(current(f)))
        access_leg_backbone(shared_upstream_session(current(f)), out);
}

static void feed_free(struct media_feed *feed)
{
    struct shared_feed *f = (struct shared_feed *)feed;
    unwatch(f, clock_now());
    viewer_end_close(&f->end);
    free(f);
}

struct media_feed *shared_feed_new(const struct shared_feed_config *config)
{
    static const struct media_feed_ops ops = {.place = viewer_end_place,
                                              .play = play,
                                              .request_key = request_key,
                                              .repair = repair,
                                              .set_level = set_level,
                                              .set_latency = set_latency,
                                              .set_playout = set_playout,
                                              .is_alone = is_alone,
                                              .relay_info = relay_info,
                                              .free = feed_free};
    static const struct flow_seat_ops seat_ops = {.on_playing = on_playing,
                                                  .on_lost = on_lost,
                                                  .on_refused = on_refused,
                                                  .on_over = on_over,
                                                  .on_restart = on_restart,
                                                  .on_frame = on_frame,
                                                  .on_audio = on_audio,
                                                  .on_nacked = on_nacked,
                                                  .on_clock = on_clock};
    static const struct bridge_ops bridge_ops = {.forward = forward,
                                                 .lost = viewer_end_lost,
                                                 .request_key = bridge_request_key,
                                                 .limit = limit,
                                                 .mark = mark,
                                                 .stop_reading = stop_reading};
    static const struct viewer_end_ops end_ops = {
        .begin = begin_request, .answer = answer_place, .give_up = give_up, .arm = arm};
    struct shared_feed *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->end.base = (struct media_feed){
        .ops = &ops, .reorders = config->origin->media->reorders, .is_encoded = true};
    f->config = *config;
    f->retune_at = USEC_NEVER;
    flow_viewer_init(&f->viewer, &config->origin->media->ladder);
    f->level = f->chosen = f->viewer.level;
    for (int i = 0; i < LADDER_MAX_SIZES; i++)
        f->seats[i] = (struct flow_seat){
            .ops = &seat_ops,
            .ctx = f,
            .flow = i,
            .demand = {.follows = true, .latency_ms = SESSION_LATENCY_DEFAULT_MS}};
    struct viewer_end_config end = {.origin = config->origin,
                                    .sink = config->sink,
                                    .bridge = &bridge_ops,
                                    .on_timer = on_timer};
    if (viewer_end_open(&f->end, &end_ops, &end, clock_now()))
        return &f->end.base;
    feed_free(&f->end.base);
    return NULL;
}
