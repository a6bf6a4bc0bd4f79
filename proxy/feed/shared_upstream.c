// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/shared_upstream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/protocol/server_dialect.h"
#include "proxy/feed/access_leg.h"
#include "proxy/feed/relayed_audio.h"
#include "proxy/policy/key_requests.h"
#include "proxy/policy/origin_life.h"
#include "server/policy/number_shift.h"

struct shared_upstream {
    const struct relay_origin *origin; // borrowed
    struct shared_numbers *numbers;    // borrowed; of all flows of the stream
    struct upstream *upstream;         // owned; NULL: none
    struct timer *timer;               // owned
    struct origin_life life;
    struct flow_seat *seats;
    int seat_count;
    usec_t empty_since; // USEC_NEVER: it has seats

    struct flow_demand demand; // of all seats
    struct flow_demand asked;  // that the origin knows
    bool is_held;              // nothing is read of the origin
    struct key_requests keys;

    struct recent_frames recent; // of this session
    bool runs;                   // this session has brought a key frame
    bool begins;                 // its first frame has not come
    int64_t shift, last;         // of the numbers; the newest one, -1: none
};

static void arm(struct shared_upstream *u)
{
    usec_t when = origin_life_next(&u->life);
    if (u->life.phase == ORIGIN_PLAYING)
        when = usec_min(when, key_requests_next(&u->keys));
    if (u->life.phase != ORIGIN_IDLE && u->empty_since != USEC_NEVER)
        when = usec_min(when, u->empty_since + SHARED_UPSTREAM_LINGER);
    timer_set(u->timer, when);
}

// ---- What the viewers ask for

static void send_key_request(struct shared_upstream *u, usec_t now)
{
    if (u->life.phase == ORIGIN_PLAYING && key_requests_due(&u->keys, now))
        upstream_request_key(u->upstream, now);
}

static void send_demand(struct shared_upstream *u, usec_t now)
{
    const struct flow_demand *d = &u->demand;
    if (u->life.phase != ORIGIN_PLAYING || !u->seat_count)
        return;
    upstream_set_follows(u->upstream, d->follows, now);
    if (d->level != u->asked.level)
        upstream_set_level(u->upstream, d->level, now);
    if (d->latency_ms != u->asked.latency_ms)
        upstream_set_latency(u->upstream, d->latency_ms, now);
    if (d->playout_ms && d->playout_ms != u->asked.playout_ms)
        upstream_set_playout(u->upstream, d->playout_ms, now);
    if (d->limit_bps < u->asked.limit_bps || d->limit_bps > u->asked.limit_bps) {
        if (d->limit_bps > 0)
            log_debug("asks the origin %s for %.0f kbit/s at most for its %d viewers",
                      u->origin->url->text, d->limit_bps / 1000, u->seat_count);
        else
            log_debug("asks the origin %s to end the limit", u->origin->url->text);
        upstream_limit(u->upstream, d->limit_bps, now);
    }
    u->asked = *d;
    if (u->is_held && u->seat_count != 1)
        upstream_hold(u->upstream, u->is_held = false, now);
}

void shared_upstream_demand(struct shared_upstream *u, usec_t now)
{
    int count = 0;
    for (const struct flow_seat *s = u->seats; s; s = s->next)
        flow_demand_add(&u->demand, count++, &s->demand);
    send_demand(u, now);
}

void shared_upstream_want_key(struct shared_upstream *u, bool repeats, usec_t now)
{
    key_requests_want(&u->keys, repeats);
    send_key_request(u, now);
    arm(u);
}

void shared_upstream_mark(struct flow_seat *s, int packets)
{
    struct shared_upstream *u = s->u;
    if (u && u->life.phase == ORIGIN_PLAYING && u->seat_count == 1)
        upstream_mark(u->upstream, packets);
}

void shared_upstream_hold(struct flow_seat *s, bool hold, usec_t now)
{
    struct shared_upstream *u = s->u;
    if (!u || u->life.phase != ORIGIN_PLAYING || u->seat_count != 1 || hold == u->is_held)
        return;
    u->is_held = hold;
    upstream_hold(u->upstream, hold, now);
}

// ---- From the origin

static void on_playing(void *ctx, const struct rtsp_client_place *place, usec_t now)
{
    (void)place;
    struct shared_upstream *u = ctx;
    if (u->life.is_over) // it said BYE before
        return;
    origin_life_playing(&u->life, now);
    *u->origin->stale = false; // the description is still the same
    send_demand(u, now);
    key_requests_begin(&u->keys, now);
    for (struct flow_seat *s = u->seats, *next; s; s = next) {
        next = s->next;
        s->ops->on_playing(s, now);
    }
    arm(u);
}

// Only live media is shared: it has no position.
static void on_seek_refused(void *ctx, usec_t now)
{
    (void)ctx, (void)now;
}

static void begin_session(struct shared_upstream *u, int64_t first, usec_t now)
{
    u->begins = false;
    u->shift = shared_numbers_begin(u->numbers, first, u->last, now);
    for (struct flow_seat *s = u->seats, *next; s; s = next) {
        next = s->next;
        s->ops->on_restart(s, now);
    }
}

static void on_frame(void *ctx, struct received_frame *r, usec_t now)
{
    struct shared_upstream *u = ctx;
    if (u->begins)
        begin_session(u, r->number, now);
    r->number += u->shift;
    if (r->depends_on >= 0)
        r->depends_on += u->shift;
    usec_t captured = access_leg_captured(u->upstream, r->capture_wall, r->first_arrived, now);
    const struct stream_media *media = u->origin->media;
    struct shared_frame *f = shared_frame_new(r, &media->ladder, media->codec != SDP_VP9, captured);
    if (!f)
        return;
    u->life.got = true;
    if (f->coded && f->head.number > u->last) {
        u->last = f->head.number;
        shared_numbers_note(u->numbers, u->last, now);
    }
    recent_frames_add(&u->recent, f);
    if (f->coded && f->head.key) {
        u->runs = true;
        key_requests_came(&u->keys);
    }
    for (struct flow_seat *s = u->seats, *next; s; s = next) {
        next = s->next;
        s->ops->on_frame(s, f, now);
    }
    shared_frame_unref(f);
}

static void on_audio(void *ctx, const struct received_audio *a, usec_t now)
{
    struct shared_upstream *u = ctx;
    struct coded_audio *c =
        u->seats && !u->begins
            ? relayed_audio_new(u->upstream, a, u->shift, u->origin->media->ladder.source_fps, now)
            : NULL;
    if (!c)
        return;
    for (struct flow_seat *s = u->seats, *next; s; s = next) {
        next = s->next;
        s->ops->on_audio(s, c, now);
    }
    coded_audio_unref(c);
}

static void on_nacked(void *ctx, usec_t now)
{
    struct shared_upstream *u = ctx;
    for (struct flow_seat *s = u->seats; s; s = s->next)
        s->ops->on_nacked(s, now);
}

static void on_clock(void *ctx, usec_t now)
{
    struct shared_upstream *u = ctx;
    for (struct flow_seat *s = u->seats, *next; s; s = next) {
        next = s->next;
        s->ops->on_clock(s, now);
    }
}

// ---- The origin is lost

static void announce_lost(struct shared_upstream *u)
{
    for (struct flow_seat *s = u->seats; s; s = s->next)
        s->ops->on_lost(s);
}

static void on_bye(void *ctx, usec_t now)
{
    struct shared_upstream *u = ctx;
    if (u->life.phase != ORIGIN_PLAYING)
        return;
    origin_life_broke_off(&u->life, now); // live media has no end of its own: the origin ends
    announce_lost(u);
    arm(u);
}

static void unseat(struct flow_seat *s)
{
    struct shared_upstream *u = s->u;
    struct flow_seat **at = &u->seats;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    s->next = NULL;
    s->u = NULL;
    u->seat_count--;
}

static void refuse_all(struct shared_upstream *u, const struct media_refusal *why, usec_t now)
{
    while (u->seats) {
        struct flow_seat *s = u->seats;
        unseat(s);
        s->ops->on_refused(s, why, now);
    }
}

static void end_for_all(struct shared_upstream *u, const struct media_refusal *why, usec_t now)
{
    while (u->seats) {
        struct flow_seat *s = u->seats;
        unseat(s);
        s->ops->on_over(s, why, now);
    }
}

static void on_end(void *ctx, const struct media_refusal *why, usec_t now)
{
    struct shared_upstream *u = ctx;
    *u->origin->stale = true;
    bool starts = u->life.phase == ORIGIN_STARTING;
    // If it is lost, a request that waits is answered when the origin is back.
    if (origin_life_ended(&u->life, why->text, false, now))
        announce_lost(u);
    else if (starts)
        refuse_all(u, why, now);
    arm(u);
}

static void drop_upstream(struct shared_upstream *u, usec_t now)
{
    upstream_free(u->upstream, now);
    recent_frames_clear(&u->recent);
    u->upstream = NULL;
    u->runs = u->is_held = false;
    origin_life_dropped(&u->life);
}

static int connect_upstream(struct shared_upstream *u, enum origin_phase phase, usec_t now)
{
    static const struct upstream_ops ops = {.on_playing = on_playing,
                                            .on_seek_refused = on_seek_refused,
                                            .on_frame = on_frame,
                                            .on_audio = on_audio,
                                            .on_nacked = on_nacked,
                                            .on_clock = on_clock,
                                            .on_bye = on_bye,
                                            .on_end = on_end};
    drop_upstream(u, now);
    struct upstream_config config = relay_origin_session(u->origin, phase == ORIGIN_STARTING, now);
    config.has_audio = u->origin->media->audio_bps > 0;
    config.follows = u->demand.follows;
    config.level = u->demand.level;
    config.latency_ms = u->demand.latency_ms;
    config.ops = &ops;
    config.ctx = u;
    u->asked = u->demand;
    u->asked.playout_ms = 0;
    u->asked.limit_bps = 0;
    u->upstream = upstream_new(&config, now);
    u->begins = true;
    if (u->upstream)
        origin_life_connecting(&u->life, phase, now);
    return u->upstream ? 0 : ERR_NO_MEMORY;
}

static void give_up(struct shared_upstream *u, usec_t now)
{
    struct media_refusal why = upstream_lost(origin_life_away(&u->life, now), u->life.why);
    drop_upstream(u, now);
    u->life.phase = ORIGIN_IDLE;
    end_for_all(u, &why, now);
}

static void on_timer(void *ctx, usec_t now)
{
    struct shared_upstream *u = ctx;
    if (u->life.is_over)
        drop_upstream(u, now);
    if (!u->seats && u->life.phase != ORIGIN_IDLE &&
        now >= u->empty_since + SHARED_UPSTREAM_LINGER) {
        drop_upstream(u, now);
        u->life.phase = ORIGIN_IDLE;
    }
    if (origin_life_second(&u->life, now))
        upstream_second(u->upstream, now);
    send_key_request(u, now);
    enum origin_due due = origin_life_due(&u->life, now);
    if (due == ORIGIN_DUE_ATTEMPT)
        (void)connect_upstream(u, ORIGIN_RETURNING, now); // no memory: the next attempt
    else if (due == ORIGIN_DUE_END)
        give_up(u, now);
    arm(u);
}

// ---- Seats

int shared_upstream_join(struct shared_upstream *u, struct flow_seat *s, usec_t now)
{
    assert(!s->u);
    struct flow_seat **at = &u->seats;
    while (*at) // viewers get a frame in the order in which they joined
        at = &(*at)->next;
    *at = s;
    s->next = NULL;
    s->u = u;
    u->seat_count++;
    u->empty_since = USEC_NEVER;
    shared_upstream_demand(u, now);
    int err = u->life.phase == ORIGIN_IDLE ? connect_upstream(u, ORIGIN_STARTING, now) : 0;
    if (err)
        unseat(s);
    arm(u);
    return err;
}

void shared_upstream_leave(struct flow_seat *s, usec_t now)
{
    struct shared_upstream *u = s->u;
    if (!u)
        return;
    unseat(s);
    if (u->is_held && u->upstream) // it was this viewer who held it
        upstream_hold(u->upstream, u->is_held = false, now);
    if (!u->seats)
        u->empty_since = now;
    shared_upstream_demand(u, now);
    arm(u);
}

// ---- Reading

int shared_upstream_seats(const struct shared_upstream *u)
{
    return u->seat_count;
}

bool shared_upstream_is_open(const struct shared_upstream *u)
{
    return u->life.phase != ORIGIN_IDLE;
}

bool shared_upstream_plays(const struct shared_upstream *u)
{
    return u->life.phase == ORIGIN_PLAYING;
}

bool shared_upstream_runs(const struct shared_upstream *u)
{
    return u->runs;
}

bool shared_upstream_has_clock(const struct shared_upstream *u, usec_t *ahead)
{
    *ahead = 0;
    bool waits = server_dialect_of(u->origin->sdp)->knows_weir_parameters;
    return u->upstream && (upstream_wall_ahead(u->upstream, ahead) || !waits);
}

int shared_upstream_recent(const struct shared_upstream *u, int64_t number,
                           struct shared_frame *out[RECENT_FRAMES])
{
    return recent_frames_after(&u->recent, number, out);
}

const struct upstream *shared_upstream_session(const struct shared_upstream *u)
{
    return u->upstream;
}

usec_t shared_upstream_rtt(const struct shared_upstream *u)
{
    struct upstream_stats s = {0};
    if (u->upstream)
        upstream_read(u->upstream, &s);
    return s.rtt;
}

// ---- Life

struct shared_upstream *shared_upstream_new(const struct relay_origin *origin,
                                            struct shared_numbers *numbers)
{
    struct shared_upstream *u = calloc(1, sizeof(*u));
    if (!u)
        return NULL;
    u->origin = origin;
    u->numbers = numbers;
    u->last = -1;
    u->empty_since = USEC_NEVER;
    origin_life_init(&u->life, origin->url->text, origin->choices->outage);
    u->timer = timer_new(origin->loop, on_timer, u);
    if (u->timer)
        return u;
    free(u);
    return NULL;
}

void shared_upstream_free(struct shared_upstream *u)
{
    if (!u)
        return;
    assert(!u->seats);
    drop_upstream(u, clock_now());
    timer_free(u->timer);
    free(u);
}

usec_t shared_upstream_away(const struct shared_upstream *u, usec_t now)
{
    return origin_life_away(&u->life, now);
}
