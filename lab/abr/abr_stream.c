// SPDX-License-Identifier: GPL-2.0-or-later
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "lab/abr/abr_delivery.h"

#define STEP        (10 * USEC_PER_MSEC)
#define SAMPLE      (50 * USEC_PER_MSEC)
#define CUT_TIME    (100 * USEC_PER_MSEC)
#define FIRST_FRAME 0.12 // of a group's bytes
#define FULL_USE    0.98 // of what the path could carry, that the network limits

enum { QUEUE = 64, NO_COPY = 255 };

struct transfer { // of a begun group
    int64_t group;
    int level;
    double whole; // bytes
    double bytes; // of these, to be sent
    double arrived;
    double pace; // bytes a second; INFINITY: none
    usec_t from; // its first byte arrives at this time at the earliest
    usec_t began;
    double share; // of its frames, that an earlier transfer brought, which was cut off
    bool again;   // a copy was buffered or begun when it was decided
};

struct viewing {
    const struct abr_session *s;
    struct abr_result *out;
    struct transfer queue[QUEUE]; // the first one arrives
    int count;
    int64_t next;
    uint8_t *whole; // owned; level of the whole copy of each group that would be shown, or NO_COPY
    uint8_t *begun; // owned; level at which each group was begun last
    usec_t position;
    usec_t end;
    bool playing;
    usec_t now;
    double sample_bytes;
    usec_t sample_time;
    usec_t wait_until; // no group is begun before
    bool sample_full;  // the network limited all of it
};

static int64_t group_at(const struct viewing *v, usec_t position)
{
    int64_t group = position / film_table_length(v->s->film->table, 0);
    return group < v->s->film->groups ? group : v->s->film->groups - 1;
}

// Returns the share of the group's frames that have arrived.
static double share_of(const struct transfer *t)
{
    return fmax(t->share, fmax(t->arrived / t->whole - FIRST_FRAME, 0) / (1 - FIRST_FRAME));
}

// Returns the end of what can be played from the position on.
static usec_t reach(const struct viewing *v)
{
    const struct film_table *t = v->s->film->table;
    int64_t g = group_at(v, v->position);
    while (g < v->s->film->groups && v->whole[g] != NO_COPY)
        g++;
    if (g == v->s->film->groups)
        return v->end;
    const struct transfer *first = &v->queue[0];
    double share = 0;
    if (v->count && first->group == g && !first->again)
        share = share_of(first);
    return film_table_start(t, g) + (usec_t)(share * (double)film_table_length(t, g));
}

static double pending(const struct viewing *v)
{
    double bytes = 0;
    for (int i = 0; i < v->count; i++)
        bytes += v->queue[i].bytes - v->queue[i].arrived;
    return bytes;
}

// Returns the bytes that arrive from `now` until a request made now has an effect at the sender.
static double on_the_way(const struct viewing *v)
{
    const struct rate_trace *t = v->s->trace;
    double path = rate_trace_bytes(t, v->now + v->s->rtt) - rate_trace_bytes(t, v->now);
    double pace = v->count ? v->queue[v->count - 1].pace : (double)INFINITY;
    return fmin(path, pace * usec_to_sec(v->s->rtt));
}

static void state_of(const struct viewing *v, struct abr_state *s)
{
    int64_t shown = group_at(v, v->position);
    usec_t begun = film_table_start(v->s->film->table, v->next) - v->position;
    *s = (struct abr_state){
        .next = v->next,
        .shown = shown,
        .buffered = usec_max(reach(v) - v->position, 0),
        .begun = usec_max(begun, 0),
        .pending_bytes = (int64_t)pending(v),
        .way_bytes = (int64_t)fmin(pending(v), on_the_way(v) + (double)v->s->kernel_bytes),
        .rtt = v->s->rtt,
        .playing = v->playing,
        .levels = v->begun + shown,
        .broken = ABR_NO_GROUP};
}

static void begin(struct viewing *v, const struct abr_decision *d)
{
    assert(d->group >= 0 && d->group <= v->next);
    bool again = d->group < v->next;
    v->queue[v->count++] = (struct transfer){
        .group = d->group,
        .level = d->level,
        .whole = (double)abr_film_bytes(v->s->film, d->group, d->level),
        .bytes = (double)abr_film_bytes(v->s->film, d->group, d->level),
        .pace = d->pace_bps > 0 ? d->pace_bps / 8 : (double)INFINITY,
        .from = v->now + v->s->rtt,
        .began = v->now,
        .again = again,
    };
    v->begun[d->group] = (uint8_t)d->level;
    v->next += !again;
    v->out->exchanges += again;
}

static void decide(struct viewing *v)
{
    while (v->next < v->s->film->groups && v->count < QUEUE && v->now >= v->wait_until &&
           pending(v) <= on_the_way(v) + (double)v->s->kernel_bytes) {
        struct abr_state state;
        struct abr_decision d;
        state_of(v, &state);
        abr_policy_decide(v->s->policy, &state, &d, v->now);
        v->wait_until = v->now + d.wait;
        if (d.wait > 0)
            break;
        if (v->s->decided) {
            const struct abr_decided event = {d, state.buffered, v->now};
            v->s->decided(v->s->ctx, &event);
        }
        begin(v, &d);
    }
}

// The policy may send the last begun group again, from where it has arrived.
static void cut(struct viewing *v)
{
    struct abr_state state;
    if (!v->count || v->count == QUEUE || v->queue[v->count - 1].again)
        return;
    state_of(v, &state);
    int level = abr_policy_cut(v->s->policy, &state, v->now);
    if (level == ABR_NO_LEVEL)
        return;
    struct transfer *t = &v->queue[v->count - 1];
    double rest = t->bytes - t->arrived;
    double others = pending(v) - rest;
    double comes = fmin(fmax((double)state.way_bytes - others, 0), rest);
    t->bytes = t->arrived + comes;
    double bytes = (double)abr_film_bytes(v->s->film, t->group, level);
    v->begun[t->group] = (uint8_t)level;
    v->out->cuts++;
    v->queue[v->count++] = (struct transfer){.group = t->group,
                                             .level = level,
                                             .whole = bytes,
                                             .bytes = bytes,
                                             .pace = (double)INFINITY,
                                             .from = v->now + v->s->rtt,
                                             .began = v->now};
}

// A transfer is whole.
static void complete(struct viewing *v, const struct transfer *t)
{
    usec_t start = film_table_start(v->s->film->table, t->group);
    uint8_t *copy = &v->whole[t->group];
    const struct abr_group g = {.group = t->group,
                                .level = t->level,
                                .bytes = (int64_t)t->bytes,
                                .first_byte = v->s->rtt,
                                .duration = v->now - t->began,
                                .buffered = usec_max(reach(v) - v->position, 0),
                                .is_exchange = *copy != NO_COPY,
                                .abandoned_for = ABR_NO_LEVEL};
    bool late = *copy != NO_COPY && v->position > start;
    if (late)
        v->out->wasted_bytes += (int64_t)t->bytes;
    else if (*copy != NO_COPY)
        v->out->wasted_bytes += abr_film_bytes(v->s->film, t->group, *copy);
    if (!late)
        *copy = (uint8_t)t->level;
    abr_policy_group(v->s->policy, &g, v->now);
}

// Returns the bytes that arrive in a step.
static double arrive(struct viewing *v, double path)
{
    double used = 0;
    double seconds = usec_to_sec(STEP);
    while (v->count && used < path) {
        struct transfer *t = &v->queue[0];
        if (t->from > v->now)
            break;
        double some = fmin(fmin(path - used, t->pace * seconds), t->bytes - t->arrived);
        t->arrived += some;
        used += some;
        seconds -= some / t->pace;
        if (t->arrived < t->bytes - 0.5)
            break;
        const struct transfer done = *t;
        memmove(v->queue, v->queue + 1, (size_t)--v->count * sizeof(*v->queue));
        if (done.bytes < done.whole - 0.5) { // it was cut off, and the same group follows
            v->queue[0].share = share_of(&done);
            v->out->wasted_bytes += (int64_t)done.arrived;
            continue;
        }
        complete(v, &done);
    }
    return used;
}

static void sample(struct viewing *v, double used, double path)
{
    v->sample_bytes += used;
    v->sample_time += STEP;
    v->sample_full = v->sample_full && v->count && used >= FULL_USE * path;
    if (v->sample_time < SAMPLE)
        return;
    const struct rate_sample s = {(int64_t)v->sample_bytes, v->sample_time,
                                  v->sample_full ? RATE_LIMIT_NETWORK : RATE_LIMIT_MEDIA};
    abr_policy_rate(v->s->policy, &s, v->now);
    v->sample_bytes = 0;
    v->sample_time = 0;
    v->sample_full = true;
}

static void play(struct viewing *v)
{
    usec_t until = reach(v);
    if (!v->playing) {
        struct abr_state state;
        state_of(v, &state);
        bool all = until >= v->end;
        v->playing =
            state.buffered > 0 && (all || abr_policy_resumes(v->s->policy, &state, v->now));
        if (v->playing && v->out->first_picture_s <= 0)
            v->out->first_picture_s = usec_to_sec(v->now);
    }
    usec_t to = v->playing ? usec_min(v->position + STEP, until) : v->position;
    usec_t missing = v->position + STEP - to;
    v->position = to;
    if (v->out->first_picture_s > 0 && missing > 0 && to < v->end) {
        v->out->stalls += v->playing;
        v->out->stalled_s += usec_to_sec(missing);
        v->playing = false;
    }
}

static void run(struct viewing *v)
{
    const struct rate_trace *t = v->s->trace;
    double before = 0;
    while (v->position < v->end && v->now < ABR_GIVEN_UP * v->end) {
        if (v->now % CUT_TIME == 0)
            cut(v);
        decide(v);
        double after = rate_trace_bytes(t, v->now + STEP);
        bool heard = v->out->bytes > 0 || (v->count && v->queue[0].from <= v->now);
        v->now += STEP;
        double used = arrive(v, after - before);
        v->out->bytes += (int64_t)round(used);
        if (heard)
            sample(v, used, after - before);
        before = after;
        play(v);
    }
}

int abr_stream_run(const struct abr_session *s, uint8_t *shown, struct abr_result *out)
{
    size_t groups = (size_t)s->film->groups;
    struct viewing v = {.s = s,
                        .out = out,
                        .whole = malloc(groups),
                        .begun = calloc(groups, 1),
                        .end = film_table_start(s->film->table, s->film->groups),
                        .sample_full = true};
    int err = v.whole && v.begun ? 0 : ERR_NO_MEMORY;
    if (!err) {
        memset(v.whole, NO_COPY, groups);
        run(&v);
        for (size_t g = 0; g < groups; g++)
            shown[g] = v.whole[g] == NO_COPY ? 0 : v.whole[g];
        out->complete = v.position >= v.end;
        out->seconds = usec_to_sec(v.now);
    }
    free(v.whole);
    free(v.begun);
    return err;
}
