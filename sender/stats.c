// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/stats.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/base/log.h"

struct stats {
    FILE *file; // owned; NULL after an error
    usec_t begun;
};

struct stats *stats_open(const char *path, usec_t now)
{
    struct stats *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->begun = now;
    s->file = fopen(path, "we");
    if (!s->file) {
        log_error("cannot write %s: %s", path, strerror(errno));
        free(s);
        return NULL;
    }
    setvbuf(s->file, NULL, _IOLBF, 0);
    return s;
}

void stats_close(struct stats *s)
{
    if (!s)
        return;
    if (s->file)
        fclose(s->file);
    free(s);
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

// What the viewer's reports told of the packets, and what of the reports was of no use.
static json_t *feedback_stats(const struct transport_info *info)
{
    if (!info->is_reported)
        return json_null();
    const struct datagram_counts *c = &info->counts;
    json_t *o = json_object();
    json_object_set_new(o, "packets", count(c->packets));
    json_object_set_new(o, "arrived", count(c->arrived));
    json_object_set_new(o, "lost", count(c->lost));
    json_object_set_new(o, "late", count(c->late));
    json_object_set_new(o, "ecn_marked", count(c->ce));
    json_object_set_new(o, "unreported", count(c->unreported));
    json_object_set_new(o, "reports", count(c->reports));
    json_object_set_new(o, "reports_ignored", count(info->reports_ignored));
    json_object_set_new(o, "lies", count(c->lies));
    json_object_set_new(o, "timeouts", count(c->rtos));
    json_object_set_new(o, "probes", count(c->probes));
    return o;
}

static json_t *controller_stats(const struct transport_info *info)
{
    if (isnan(info->allowed_bps))
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "allowed", number(info->allowed_bps));
    for (int i = 0; i < TRANSPORT_VARIABLES && info->variable[i].name[0]; i++)
        json_object_set_new(o, info->variable[i].name, number(info->variable[i].value));
    return o;
}

static json_t *transport_stats(const struct session_view *v)
{
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(v->transport));
    json_object_set_new(o, "cwnd", number(v->info.cwnd_packets));
    json_object_set_new(o, "rate", number(v->info.rate_bps));
    json_object_set_new(o, "rtt", number(v->info.rtt_ms));
    json_object_set_new(o, "loss", number(v->info.loss));
    json_object_set_new(o, "loss_event_rate", number(v->info.loss_events));
    json_object_set_new(o, "unsent_queue", number(v->info.unsent_bytes));
    json_object_set_new(o, "controller", controller_stats(&v->info));
    json_object_set_new(o, "feedback", feedback_stats(&v->info));
    json_object_set_new(o, "wrong_tokens", count(v->wrong_tokens));
    json_object_set_new(o, "acks_ignored", count(v->info.acks_ignored));
    return o;
}

static json_t *layer_counts(const uint64_t *counts, int layers)
{
    json_t *a = json_array();
    for (int i = 0; i < layers; i++)
        json_array_append_new(a, count(counts[i]));
    return a;
}

static json_t *scheduler_stats(const struct session_view *v, usec_t now)
{
    static const char *const causes[DROP_CAUSES] = {"deadline", "layer", "broken", "full",
                                                    "flushed"};
    const struct scheduler *s = v->scheduler;
    int layers = v->stream->ladder.sizes[v->size_id].layers;
    json_t *o = json_object();
    json_object_set_new(o, "waiting_frames", json_integer(s->count));
    json_object_set_new(o, "waiting_bytes", count(s->bytes));
    json_object_set_new(o, "waiting_ms", json_real(usec_to_msec(scheduler_waiting(s, now))));
    json_object_set_new(o, "queued", layer_counts(s->counters.queued, layers));
    json_object_set_new(o, "sent", layer_counts(s->counters.sent, layers));
    json_object_set_new(o, "dropped", layer_counts(s->counters.dropped, layers));
    json_t *by_cause = json_object();
    for (int i = 0; i < DROP_CAUSES; i++)
        json_object_set_new(by_cause, causes[i], count(s->counters.by_cause[i]));
    json_object_set_new(o, "dropped_by_cause", by_cause);
    return o;
}

static json_t *adaptation_stats(const struct session_view *v)
{
    const struct adaptation *a = v->adaptation;
    if (!a)
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "target", number(rate_follow_bps(&a->rate)));
    json_object_set_new(o, "delivered", number(a->rate.took_bps));
    json_object_set_new(o, "delay_ms", json_real(usec_to_msec(a->rate.delay)));
    json_object_set_new(o, "rise_ms", json_real(usec_to_msec(a->rate.rise)));
    json_object_set_new(o, "capacity", number(a->rate.capacity_bps));
    json_object_set_new(o, "encoder", json_integer(a->encoder_bps));
    json_object_set_new(o, "thinned", count(v->thinned));
    return o;
}

static json_t *sound_stats(const struct session_view *v)
{
    if (!v->has_sound)
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "packets", count(v->sound_packets));
    json_object_set_new(o, "octets", count(v->sound_octets));
    json_object_set_new(o, "dropped", count(v->sound_dropped));
    return o;
}

static json_t *encoder_stats(const struct session_view *v)
{
    if (!v->stream->engine)
        return json_null();
    struct engine_size_stats e;
    engine_size_stats(v->stream->engine, v->size_id, &e);
    json_t *o = json_object();
    json_object_set_new(o, "size", json_integer(v->size_id));
    json_object_set_new(o, "rate",
                        json_integer(ladder_size_bitrate(&v->stream->ladder, v->size_id)));
    json_object_set_new(o, "ms_per_frame", json_real(e.encode_ms));
    json_object_set_new(o, "frames", count(e.frames));
    json_object_set_new(o, "key_frames", count(e.keys));
    json_object_set_new(o, "bytes", count(e.bytes));
    json_object_set_new(o, "overload", count(e.overload));
    return o;
}

// Takes over the object.
static void write_line(struct stats *s, json_t *o)
{
    int err = json_dumpf(o, s->file, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(o);
    if (err || fputc('\n', s->file) == EOF) { // a full disk must not end the stream
        log_error("cannot write statistics: %s; going on without", strerror(errno));
        fclose(s->file);
        s->file = NULL;
    }
}

void stats_write(struct stats *s, struct session *session, usec_t now)
{
    if (!s->file)
        return;
    struct session_view v;
    session_view(session, &v, now);
    json_t *o = json_object();
    json_object_set_new(o, "t", json_real(usec_to_sec(now - s->begun)));
    json_object_set_new(o, "session", json_string(v.id));
    json_object_set_new(o, "playing", json_boolean(v.playing));
    json_object_set_new(o, "level", json_integer(v.level));
    json_object_set_new(o, "packets", count(v.packets));
    json_object_set_new(o, "octets", count(v.octets));
    json_object_set_new(o, "transport", transport_stats(&v));
    json_object_set_new(o, "scheduler", scheduler_stats(&v, now));
    json_object_set_new(o, "encoder", encoder_stats(&v));
    json_object_set_new(o, "adaptation", adaptation_stats(&v));
    json_object_set_new(o, "sound", sound_stats(&v));
    write_line(s, o);
}

static double seconds(const struct timeval *t)
{
    return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

void stats_end(struct stats *s, usec_t now)
{
    if (!s->file)
        return;
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    json_t *cpu = json_object();
    json_object_set_new(cpu, "user", json_real(seconds(&use.ru_utime)));
    json_object_set_new(cpu, "system", json_real(seconds(&use.ru_stime)));
    json_t *o = json_object();
    json_object_set_new(o, "event", json_string("end"));
    json_object_set_new(o, "t", json_real(usec_to_sec(now - s->begun)));
    json_object_set_new(o, "cpu", cpu);
    json_object_set_new(o, "max_rss", count((uint64_t)use.ru_maxrss * 1024));
    write_line(s, o);
}
