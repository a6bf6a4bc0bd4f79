// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/export/stats_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

// Counts of the viewer's reports: the fate of the packets, and unusable reports.
static json_t *feedback_json(const struct transport_info *info)
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

static json_t *controller_json(const struct transport_info *info)
{
    if (isnan(info->allowed_bps))
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "allowed", number(info->allowed_bps));
    for (int i = 0; i < TRANSPORT_VARIABLES && info->variable[i].name[0]; i++)
        json_object_set_new(o, info->variable[i].name, number(info->variable[i].value));
    return o;
}

static json_t *relay_json(const struct relay_info *relay)
{
    struct relay_info values = *relay;
    struct relay_field fields[RELAY_FIELDS];
    relay_info_fields(&values, fields);
    json_t *o = json_object();
    for (int i = 0; fields[i].name; i++)
        json_object_set_new(o, fields[i].name, number(*fields[i].value));
    return o;
}

static json_t *srtp_json(const struct session_stats *s)
{
    if (!s->is_srtp)
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "replayed", count(s->srtp_replayed));
    json_object_set_new(o, "forged", count(s->srtp_forged));
    return o;
}

static json_t *transport_json(const struct session_stats *s)
{
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(s->transport));
    json_object_set_new(o, "cwnd", number(s->info.cwnd_packets));
    json_object_set_new(o, "rate", number(s->info.rate_bps));
    json_object_set_new(o, "rtt", number(s->info.rtt_ms));
    json_object_set_new(o, "loss", number(s->info.loss));
    json_object_set_new(o, "loss_event_rate", number(s->info.loss_events));
    json_object_set_new(o, "unsent_queue", number(s->info.unsent_bytes));
    json_object_set_new(o, "controller", controller_json(&s->info));
    json_object_set_new(o, "feedback", feedback_json(&s->info));
    json_object_set_new(o, "srtp", srtp_json(s));
    json_object_set_new(o, "wrong_tokens", count(s->wrong_tokens));
    json_object_set_new(o, "feedback_dropped", count(s->feedback_dropped));
    json_object_set_new(o, "acks_ignored", count(s->info.acks_ignored));
    return o;
}

static void frame_counts(json_t *o, const struct scheduler_counters *c, int layers)
{
    json_t *queued = json_array();
    json_t *sent = json_array();
    json_t *dropped = json_array();
    for (int i = 0; i < layers; i++) {
        json_array_append_new(queued, count(c->queued[i]));
        json_array_append_new(sent, count(c->sent[i]));
        json_array_append_new(dropped, count(stats_dropped_by_layer(c, i)));
    }
    json_object_set_new(o, "queued", queued);
    json_object_set_new(o, "sent", sent);
    json_object_set_new(o, "dropped", dropped);
    json_t *by_cause = json_object();
    for (int i = 0; i < DROP_CAUSES; i++)
        json_object_set_new(by_cause, stats_causes[i],
                            count(stats_dropped_by_cause(c, (enum drop_cause)i)));
    json_object_set_new(o, "dropped_by_cause", by_cause);
}

static json_t *scheduler_json(const struct session_stats *s)
{
    json_t *o = json_object();
    json_object_set_new(o, "waiting_frames", json_integer(s->waiting_frames));
    json_object_set_new(o, "waiting_bytes", count(s->waiting_bytes));
    json_object_set_new(o, "waiting_ms", json_real(s->waiting_ms));
    frame_counts(o, &s->frames, s->layers);
    return o;
}

static json_t *adaptation_json(const struct session_stats *s)
{
    const struct adaptation_stats *a = &s->adaptation;
    if (!s->follows)
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "target", number(a->target_bps));
    json_object_set_new(o, "delivered", number(a->delivered_bps));
    json_object_set_new(o, "delay_ms", number(a->delay_ms));
    json_object_set_new(o, "rise_ms", number(a->rise_ms));
    json_object_set_new(o, "capacity", number(a->capacity_bps));
    json_object_set_new(o, "encoder", number(a->encoder_bps));
    json_object_set_new(o, "thinned", count(s->thinned));
    return o;
}

// Of the viewer's video: what was sent again or protected, and why lost packets were not.
static json_t *repair_json(const struct session_stats *s)
{
    static const char *const reasons[REPAIR_REASONS] = {
        [REPAIR_UNDER_WAY] = "under_way", [REPAIR_TOO_LATE] = "too_late",
        [REPAIR_NO_SHARE] = "no_share",   [REPAIR_CONGESTED] = "congested",
        [REPAIR_DISABLED] = "disabled",   [REPAIR_NOT_KEPT] = "not_kept"};
    const struct repair_stats *r = &s->repair;
    if (s->repair_mode == REPAIR_MODE_OFF)
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "mode", json_string(repair_mode_name(s->repair_mode)));
    json_object_set_new(o, "requested", count(r->lost));
    json_object_set_new(o, "resent", count(r->resent));
    json_object_set_new(o, "duplicated", count(r->duplicated));
    json_object_set_new(o, "fec_packets", count(r->fec_packets));
    json_object_set_new(o, "invalidations", count(r->invalidations));
    json_object_set_new(o, "bytes", count(r->repair_bytes));
    json_object_set_new(o, "overhead", number(repair_stats_overhead(r)));
    json_object_set_new(o, "recent_share", number(s->repair_share));
    json_t *not_resent = json_object();
    for (int i = 0; i < REPAIR_REASONS; i++)
        if (reasons[i])
            json_object_set_new(not_resent, reasons[i], count(r->not_resent[i]));
    json_object_set_new(o, "not_resent", not_resent);
    return o;
}

static json_t *encoder_json(const struct stream_stats *f, int size_id)
{
    if (size_id >= f->encoder_count)
        return json_null();
    const struct encoder_stats *e = &f->encoders[size_id];
    json_t *o = json_object();
    json_object_set_new(o, "size", json_integer(size_id));
    json_object_set_new(o, "width", json_integer(e->width));
    json_object_set_new(o, "height", json_integer(e->height));
    json_object_set_new(o, "frame_rate", number(e->fps));
    json_object_set_new(o, "rate", json_integer(e->stats.bitrate_bps));
    json_object_set_new(o, "nominal_rate", json_integer(e->bitrate_bps));
    json_object_set_new(o, "ms_per_frame", json_real(e->stats.encode_ms));
    json_object_set_new(o, "busy", json_real(usec_to_sec(e->stats.busy)));
    json_object_set_new(o, "frames", count(e->stats.frames));
    json_object_set_new(o, "key_frames", count(e->stats.keys));
    json_object_set_new(o, "bytes", count(e->stats.bytes));
    json_object_set_new(o, "overload", count(e->stats.overload));
    json_object_set_new(o, "lowered", json_real(usec_to_sec(e->stats.lowered)));
    const struct repair_counts *c = &e->stats.repairs;
    json_t *repairs = json_object();
    json_object_set_new(repairs, "requests", count(c->requests));
    json_object_set_new(repairs, "repaired", count(c->repaired));
    json_object_set_new(repairs, "coalesced", count(c->coalesced));
    json_object_set_new(repairs, "waited", count(c->waited));
    json_object_set_new(repairs, "key_frames", count(c->keys));
    json_object_set_new(o, "repairs", repairs);
    return o;
}

static json_t *audio_encoder_json(const struct stream_stats *f)
{
    if (!f->audio_bps)
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "rate", json_integer(f->audio_bps));
    json_object_set_new(o, "busy", json_real(usec_to_sec(f->audio.busy)));
    json_object_set_new(o, "packets", count(f->audio.packets));
    json_object_set_new(o, "bytes", count(f->audio.bytes));
    json_object_set_new(o, "overload", count(f->audio.overload));
    return o;
}

static json_t *audio_json(const struct stream_stats *f, const struct session_stats *s)
{
    if (!s->has_audio)
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "packets", count(s->audio_packets));
    json_object_set_new(o, "octets", count(s->audio_octets));
    json_object_set_new(o, "dropped", count(s->audio_dropped));
    json_object_set_new(o, "encoder", audio_encoder_json(f));
    return o;
}

void stats_session_json(json_t *o, const struct stats *f, const struct session_stats *s)
{
    const struct stream_stats *stream = &f->streams[s->stream];
    json_object_set_new(o, "session", json_string(s->id));
    json_object_set_new(o, "path", json_string(stream->path));
    json_object_set_new(o, "number", json_integer(s->number));
    json_object_set_new(o, "playing", json_boolean(s->playing));
    json_object_set_new(o, "level", json_integer(s->level));
    json_object_set_new(o, "packets", count(s->packets));
    json_object_set_new(o, "octets", count(s->octets));
    json_object_set_new(o, "transport", transport_json(s));
    json_object_set_new(o, "scheduler", scheduler_json(s));
    json_object_set_new(o, "encoder", encoder_json(stream, s->size_id));
    json_object_set_new(o, "adaptation", adaptation_json(s));
    json_object_set_new(o, "repair", repair_json(s));
    json_object_set_new(o, "sound", audio_json(stream, s));
    if (s->relayed)
        json_object_set_new(o, "relay", relay_json(&s->relay));
}

void stats_process_json(json_t *o, const struct process_stats *p)
{
    json_t *cpu = json_object();
    json_object_set_new(cpu, "user", json_real(p->user_seconds));
    json_object_set_new(cpu, "system", json_real(p->system_seconds));
    json_object_set_new(o, "cpu", cpu);
    json_object_set_new(o, "rss", number(p->resident_bytes));
    json_object_set_new(o, "max_rss", number(p->max_resident_bytes));
}

static json_t *totals_json(const struct stats *f)
{
    json_t *o = json_object();
    frame_counts(o, &f->total.frames, SCHEDULER_MAX_LAYERS);
    json_object_set_new(o, "thinned", count(f->total.thinned));
    json_object_set_new(o, "sound_dropped", count(f->total.audio_dropped));
    json_object_set_new(o, "overload", count(f->total.overload));
    json_t *transports = json_object();
    for (int i = 0; i < f->transport_count; i++) {
        const struct transport_stats *t = &f->total.transports[i];
        if (!t->sessions)
            continue;
        json_t *of = json_object();
        json_object_set_new(of, "open", json_integer(t->open));
        json_object_set_new(of, "sessions", count(t->sessions));
        json_object_set_new(of, "packets", count(t->packets));
        json_object_set_new(of, "octets", count(t->octets));
        json_object_set_new(of, "sound_packets", count(t->audio_packets));
        json_object_set_new(of, "sound_octets", count(t->audio_octets));
        json_object_set_new(transports, t->name, of);
    }
    json_object_set_new(o, "transports", transports);
    return o;
}

static json_t *stream_json(const struct stream_stats *f)
{
    json_t *o = json_object();
    json_object_set_new(o, "path", json_string(f->path));
    json_object_set_new(o, "source", json_string(f->source));
    json_object_set_new(o, "sessions", json_integer(f->open));
    json_t *encoders = json_array();
    for (int i = 0; i < f->encoder_count; i++)
        json_array_append_new(encoders, encoder_json(f, i));
    json_object_set_new(o, "encoders", encoders);
    json_object_set_new(o, "sound_encoder", audio_encoder_json(f));
    return o;
}

static json_t *cache_json(const struct cache_stats *c)
{
    json_t *o = json_object();
    json_object_set_new(o, "hits", count(c->hits));
    json_object_set_new(o, "saved_bytes", count(c->saved_bytes));
    json_object_set_new(o, "fetched_bytes", count(c->fetched_bytes));
    json_object_set_new(o, "bytes", json_integer((json_int_t)c->bytes));
    json_object_set_new(o, "max_bytes", json_integer((json_int_t)c->max_bytes));
    json_object_set_new(o, "films", json_integer(c->films));
    json_object_set_new(o, "complete_objects", json_integer(c->objects));
    json_object_set_new(o, "stopped", json_boolean(c->stopped));
    return o;
}

void stats_http_json(json_t *o, const struct http_stats *h)
{
    json_t *http = json_object();
    json_object_set_new(http, "connections", json_integer(h->connections));
    json_object_set_new(http, "waiting_requests", json_integer(h->waiting));
    json_object_set_new(http, "requests", count(h->requests));
    json_object_set_new(http, "sent_bytes", count(h->sent_bytes));
    json_object_set_new(o, "http", http);
}

json_t *stats_control_session_json(const struct stats *f, const struct session_stats *s)
{
    json_t *o = json_object();
    json_object_set_new(o, "session", json_string(s->id));
    json_object_set_new(o, "path", json_string(f->streams[s->stream].path));
    json_object_set_new(o, "address", *s->peer ? json_string(s->peer) : json_null());
    json_object_set_new(o, "age", json_real(usec_to_sec(s->age)));
    json_object_set_new(o, "transport", json_string(s->transport));
    json_object_set_new(o, "playing", json_boolean(s->playing));
    json_object_set_new(o, "level", json_integer(s->level));
    json_object_set_new(o, "octets", count(s->octets + s->audio_octets));
    return o;
}

static json_t *moment_json(const struct stats_moment *m)
{
    json_t *o = json_object();
    json_object_set_new(o, "t", json_real(usec_to_sec(m->age)));
    json_object_set_new(o, "cpu", number(m->cpu_seconds));
    json_object_set_new(o, "octets", count(m->octets));
    json_t *dropped = json_object();
    for (int i = 0; i < DROP_CAUSES; i++)
        json_object_set_new(dropped, stats_causes[i], count(m->dropped[i]));
    json_object_set_new(o, "dropped_by_cause", dropped);
    json_object_set_new(o, "thinned", count(m->thinned));
    json_object_set_new(o, "overload", count(m->overload));
    json_object_set_new(o, "sound_dropped", count(m->audio_dropped));
    json_t *sessions = json_array();
    for (int i = 0; i < m->session_count; i++) {
        const struct stats_moment_session *s = &m->sessions[i];
        json_t *of = json_object();
        json_object_set_new(of, "number", json_integer(s->number));
        json_object_set_new(of, "session", json_string(s->id));
        json_object_set_new(of, "rate", number(s->rate_bps));
        json_object_set_new(of, "delay_ms", number(s->delay_ms));
        json_object_set_new(of, "rtt", number(s->rtt_ms));
        json_object_set_new(of, "loss", number(s->loss));
        json_object_set_new(of, "packets", s->is_reported ? count(s->packets) : json_null());
        json_object_set_new(of, "lost", s->is_reported ? count(s->lost) : json_null());
        json_object_set_new(of, "sound_octets",
                            s->has_audio ? count(s->audio_octets) : json_null());
        json_array_append_new(sessions, of);
    }
    json_object_set_new(o, "sessions", sessions);
    return o;
}

void stats_history_json(json_t *o, const struct stats_history *h)
{
    json_t *moments = json_array();
    for (int i = 0; i < h->count; i++)
        json_array_append_new(moments, moment_json(stats_history_at(h, i)));
    json_object_set_new(o, "history", moments);
}

// Reads a line of a catalog's list: path, seconds and sizes, separated by tabs.
static json_t *film_json(const char *line, size_t len)
{
    const char *end = line + len, *tab = memchr(line, '\t', len);
    const char *next = tab ? memchr(tab + 1, '\t', (size_t)(end - tab - 1)) : NULL;
    if (!next)
        return NULL;
    char *after;
    double seconds = strtod(tab + 1, &after);
    bool is_known = after == next && after != tab + 1;
    bool has_sizes = end - next > 1 && next[1] != '?';
    json_t *o = json_object();
    json_object_set_new(o, "path", json_stringn(line, (size_t)(tab - line)));
    json_object_set_new(o, "seconds", is_known ? number(seconds) : json_null());
    json_object_set_new(o, "sizes",
                        has_sizes ? json_stringn(next + 1, (size_t)(end - next - 1)) : json_null());
    return o;
}

json_t *stats_films_json(const char *list, const struct stats *f)
{
    json_t *o = json_object();
    json_t *films = json_array();
    for (const char *line = list; line && *line;) {
        size_t len = strcspn(line, "\r\n");
        json_t *film = film_json(line, len);
        if (film)
            json_array_append_new(films, film);
        line += len;
        line += strspn(line, "\r\n");
    }
    json_object_set_new(o, "films", list ? films : json_null());
    if (!list)
        json_decref(films);
    const struct stats_place *at = &f->place;
    json_t *place = json_null();
    if (at->port) {
        place = json_object();
        json_object_set_new(place, "host", *at->host ? json_string(at->host) : json_null());
        json_object_set_new(place, "port", json_integer(at->port));
        json_object_set_new(place, "encrypted", json_boolean(at->encrypted));
        json_object_set_new(place, "keys", json_boolean(at->keys));
    }
    json_object_set_new(o, "at", place);
    return o;
}

json_t *stats_control_sources_json(const char *list, const struct stats *f)
{
    json_t *o = stats_films_json(list, f);
    size_t index;
    json_t *film;
    json_array_foreach(json_object_get(o, "films"), index, film)
    {
        const char *path = json_string_value(json_object_get(film, "path"));
        for (int i = 0; i < f->stream_count; i++) {
            const struct stream_stats *of = &f->streams[i];
            if (!path || strcmp(of->path, path) != 0)
                continue;
            bool is_limited = of->highest < of->level_count - 1;
            json_object_set_new(film, "levels", json_integer(of->level_count));
            json_object_set_new(film, "level",
                                is_limited ? json_integer(of->highest) : json_null());
        }
    }
    return o;
}

json_t *stats_status_json(const struct stats *f, const struct process_stats *p)
{
    json_t *o = json_object();
    json_object_set_new(o, "version", json_string(f->version));
    json_object_set_new(o, "source", json_string(f->source));
    json_object_set_new(o, "t", json_real(usec_to_sec(f->age)));
    json_object_set_new(o, "time_ms", json_integer(f->wall / USEC_PER_MSEC));
    json_t *sessions = json_array();
    for (int i = 0; i < f->session_count; i++) {
        json_t *s = json_object();
        stats_session_json(s, f, &f->sessions[i]);
        const char *peer = f->sessions[i].peer;
        json_object_set_new(s, "address", *peer ? json_string(peer) : json_null());
        json_object_set_new(s, "age", json_real(usec_to_sec(f->sessions[i].age)));
        json_array_append_new(sessions, s);
    }
    json_object_set_new(o, "sessions", sessions);
    json_t *streams = json_array();
    for (int i = 0; i < f->stream_count; i++)
        json_array_append_new(streams, stream_json(&f->streams[i]));
    json_object_set_new(o, "streams", streams);
    json_object_set_new(o, "total", totals_json(f));
    if (f->cache.is_used)
        json_object_set_new(o, "cache", cache_json(&f->cache));
    if (f->http.is_used)
        stats_http_json(o, &f->http);
    json_t *process = json_object();
    stats_process_json(process, p);
    json_object_set_new(process, "open_files", json_integer(p->open_files));
    json_object_set_new(o, "process", process);
    return o;
}
