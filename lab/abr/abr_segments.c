// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "lab/abr/abr_delivery.h"

#define PROGRESS_TIME  (50 * USEC_PER_MSEC)
#define PROGRESS_BYTES 1500.0

struct segments {
    const struct abr_session *s;
    struct abr_result *out;
    usec_t now;
    usec_t buffered; // whole groups
    bool playing;
};

// Time passes; what is buffered is played.
static void pass(struct segments *v, usec_t duration)
{
    v->now += duration;
    if (!v->playing)
        return;
    usec_t played = usec_min(duration, v->buffered);
    v->buffered -= played;
    if (played < duration) {
        v->out->stalls++;
        v->out->stalled_s += usec_to_sec(duration - played);
    }
}

// Returns the level to abandon it for, or ABR_NO_LEVEL. Time passes later, in one step.
static int download(const struct segments *v, struct abr_progress *p)
{
    const struct rate_trace *trace = v->s->trace;
    usec_t first = v->now + p->first_byte;
    double before = rate_trace_bytes(trace, first);
    usec_t end = rate_trace_time(trace, before + (double)p->bytes);
    for (usec_t at = first; at < end;) {
        usec_t enough = rate_trace_time(trace, rate_trace_bytes(trace, at) + PROGRESS_BYTES);
        at = usec_max(at + PROGRESS_TIME, enough);
        if (at >= end)
            break;
        p->received = (int64_t)(rate_trace_bytes(trace, at) - before);
        p->duration = at - v->now;
        p->buffered = usec_max(v->buffered - p->duration, 0);
        int level =
            p->received > 0 && v->playing ? abr_policy_progress(v->s->policy, p, at) : ABR_NO_LEVEL;
        if (level != ABR_NO_LEVEL)
            return level;
    }
    p->received = p->bytes;
    p->duration = end - v->now;
    return ABR_NO_LEVEL;
}

static void decide(struct segments *v, int64_t group, struct abr_decision *d)
{
    const struct abr_state state = {.next = group,
                                    .shown = group,
                                    .buffered = v->buffered,
                                    .begun = v->buffered,
                                    .rtt = v->s->rtt,
                                    .playing = v->playing,
                                    .broken = ABR_NO_GROUP};
    abr_policy_decide(v->s->policy, &state, d, v->now);
    if (v->s->decided) {
        const struct abr_decided event = {*d, v->buffered, v->now};
        v->s->decided(v->s->ctx, &event);
    }
}

// Returns true if the group is whole.
static bool fetch(struct segments *v, int64_t group, const struct abr_decision *d)
{
    struct abr_progress p = {.group = group,
                             .level = d->level,
                             .bytes = abr_film_bytes(v->s->film, group, d->level),
                             .first_byte = v->s->rtt};
    int instead = download(v, &p);
    struct abr_group g = {.group = group,
                          .level = d->level,
                          .bytes = p.received,
                          .first_byte = p.first_byte,
                          .duration = p.duration,
                          .abandoned_for = instead};
    pass(v, p.duration);
    v->out->bytes += p.received;
    g.buffered = v->buffered;
    if (instead == ABR_NO_LEVEL) {
        const struct rate_sample sample = {p.received, usec_max(p.duration - p.first_byte, 1),
                                           RATE_LIMIT_NETWORK};
        v->buffered += film_table_length(v->s->film->table, group);
        g.buffered = v->buffered;
        abr_policy_rate(v->s->policy, &sample, v->now);
    } else {
        v->out->wasted_bytes += p.received;
    }
    abr_policy_group(v->s->policy, &g, v->now);
    return instead == ABR_NO_LEVEL;
}

int abr_segments_run(const struct abr_session *s, uint8_t *shown, struct abr_result *out)
{
    struct segments v = {.s = s, .out = out};
    usec_t film = film_table_start(s->film->table, s->film->groups);
    for (int64_t g = 0; g < s->film->groups && v.now < ABR_GIVEN_UP * film;) {
        usec_t full = v.buffered + film_table_length(s->film->table, g) - s->target;
        if (full > 0) {
            pass(&v, full);
            abr_policy_waited(s->policy, full);
        }
        struct abr_decision d;
        decide(&v, g, &d);
        pass(&v, d.wait);
        if (!fetch(&v, g, &d))
            continue;
        shown[g++] = (uint8_t)d.level;
        if (!v.playing) {
            out->first_picture_s = usec_to_sec(v.now);
            v.playing = true;
        }
        out->complete = g == s->film->groups;
    }
    out->seconds = usec_to_sec(v.now + v.buffered);
    return 0;
}
