// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stats/stats_prometheus.h"

#include <math.h>

#include "common/base/put.h"
#include "server/stats/stats_table.h"

// ---- Samples ----

static void family(struct put *p, const char *name, const char *type, const char *help)
{
    put_format(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

// Writes integers in full: counters of bytes must not lose their last digits.
static void value(struct put *p, double v)
{
    bool whole = v == floor(v) && fabs(v) < 9007199254740992.0; // 2^53
    put_format(p, whole ? " %.0f\n" : " %.12g\n", v);
}

// Writes a label; escapes backslash, quote and newline in its value.
static void label(struct put *p, const char *before, const char *name, const char *text)
{
    put_format(p, "%s%s=\"", before, name);
    for (; *text; text++) {
        if (*text == '\n')
            put_format(p, "\\n");
        else
            put_format(p, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    }
    put_format(p, "\"");
}

static void plain(struct put *p, const char *name, const char *type, const char *help, double v)
{
    if (!isfinite(v))
        return;
    family(p, name, type, help);
    put_format(p, "%s", name);
    value(p, v);
}

// ---- Sessions ----

static void session_info(struct put *p, const struct stats *f)
{
    family(p, "weir_session_info", METRIC_GAUGE, "Path and transport of the session.");
    for (int i = 0; i < f->session_count; i++) {
        const struct session_stats *s = &f->sessions[i];
        put_format(p, "weir_session_info{session=\"%d\"", s->number);
        label(p, ",", "path", f->streams[s->stream].path);
        label(p, ",", "transport", s->transport);
        put_format(p, "} 1\n");
    }
}

static bool is_reported(const struct session_stats *s)
{
    return s->info.is_reported;
}

static bool is_relayed(const struct session_stats *s)
{
    return s->relayed;
}

static bool has_audio(const struct session_stats *s)
{
    return s->has_audio;
}

// `has`: selects the sessions that have these metrics; NULL: all have them.
static void session_table(struct put *p, const struct stats *f, const struct metric *table,
                          bool (*has)(const struct session_stats *s))
{
    for (const struct metric *m = table; m->name; m++) {
        family(p, m->name, m->type, m->help);
        for (int i = 0; i < f->session_count; i++) {
            const struct session_stats *s = &f->sessions[i];
            double v = metric_read(m, s);
            if (!isfinite(v) || (has && !has(s)))
                continue;
            put_format(p, "%s{session=\"%d\"}", m->name, s->number);
            value(p, v);
        }
    }
}

// The rate controllers' own variables, with the names and units of their papers.
static void controllers(struct put *p, const struct stats *f)
{
    family(p, "weir_session_controller", METRIC_GAUGE,
           "A variable of the rate controller, in its paper's units.");
    for (int i = 0; i < f->session_count; i++) {
        const struct session_stats *s = &f->sessions[i];
        const struct transport_variable *v = s->info.variable;
        for (int k = 0; k < TRANSPORT_VARIABLES && v[k].name[0]; k++) {
            if (!isfinite(v[k].value))
                continue;
            put_format(p, "weir_session_controller{session=\"%d\"", s->number);
            label(p, ",", "variable", v[k].name);
            put_format(p, "}");
            value(p, v[k].value);
        }
    }
}

// ---- Frames ----

// `session`: the session's number; 0: the totals of all sessions.
static void sent_frames(struct put *p, const char *name, const struct scheduler_counters *c,
                        int session, int layers)
{
    for (int layer = 0; layer < layers; layer++) {
        put_format(p, "%s{", name);
        if (session)
            put_format(p, "session=\"%d\",", session);
        put_format(p, "layer=\"%d\"}", layer);
        value(p, (double)c->sent[layer]);
    }
}

static void dropped_frames(struct put *p, const char *name, const struct scheduler_counters *c,
                           int session, int layers)
{
    for (int cause = 0; cause < DROP_CAUSES; cause++) {
        for (int layer = 0; layer < layers; layer++) {
            put_format(p, "%s{", name);
            if (session)
                put_format(p, "session=\"%d\",", session);
            put_format(p, "cause=\"%s\",layer=\"%d\"}", stats_causes[cause], layer);
            value(p, (double)c->dropped[cause][layer]);
        }
    }
}

static const char sent_help[] = "Frames sent completely, by temporal layer.";
static const char dropped_help[] = "Frames dropped before they were sent, by cause and temporal "
                                   "layer.";

static void frames(struct put *p, const struct stats *f)
{
    family(p, "weir_session_frames_sent_total", METRIC_COUNTER, sent_help);
    for (int i = 0; i < f->session_count; i++)
        sent_frames(p, "weir_session_frames_sent_total", &f->sessions[i].frames,
                    f->sessions[i].number, f->sessions[i].layers);
    family(p, "weir_session_frames_dropped_total", METRIC_COUNTER, dropped_help);
    for (int i = 0; i < f->session_count; i++)
        dropped_frames(p, "weir_session_frames_dropped_total", &f->sessions[i].frames,
                       f->sessions[i].number, f->sessions[i].layers);
    family(p, "weir_frames_sent_total", METRIC_COUNTER, sent_help);
    sent_frames(p, "weir_frames_sent_total", &f->total.frames, 0, SCHEDULER_MAX_LAYERS);
    family(p, "weir_frames_dropped_total", METRIC_COUNTER, dropped_help);
    dropped_frames(p, "weir_frames_dropped_total", &f->total.frames, 0, SCHEDULER_MAX_LAYERS);
}

// ---- The program ----

static void build(struct put *p, const struct stats *f)
{
    family(p, "weir_build_info", METRIC_GAUGE, "The program's version.");
    put_format(p, "weir_build_info{");
    label(p, "", "version", f->version);
    put_format(p, "} 1\n");
    family(p, "weir_source_info", METRIC_GAUGE, "Open streams and their sources.");
    for (int i = 0; i < f->stream_count; i++) {
        put_format(p, "weir_source_info{");
        label(p, "", "path", f->streams[i].path);
        label(p, ",", "source", f->streams[i].source);
        put_format(p, "} 1\n");
    }
    family(p, "weir_source_sessions", METRIC_GAUGE, "Open sessions, by path.");
    for (int i = 0; i < f->stream_count; i++) {
        put_format(p, "weir_source_sessions{");
        label(p, "", "path", f->streams[i].path);
        put_format(p, "}");
        value(p, f->streams[i].open);
    }
}

static void transports(struct put *p, const struct stats *f)
{
    for (const struct metric *m = metrics_of_transport; m->name; m++) {
        family(p, m->name, m->type, m->help);
        for (int i = 0; i < f->transport_count; i++) {
            put_format(p, "%s{", m->name);
            label(p, "", "transport", f->total.transports[i].name);
            put_format(p, "}");
            value(p, metric_read(m, &f->total.transports[i]));
        }
    }
}

static void encoders(struct put *p, const struct stats *f)
{
    for (const struct metric *m = metrics_of_encoder; m->name; m++) {
        family(p, m->name, m->type, m->help);
        for (int i = 0; i < f->stream_count; i++) {
            const struct stream_stats *s = &f->streams[i];
            for (const struct encoder_stats *e = s->encoders; e < s->encoders + s->encoder_count;
                 e++) {
                put_format(p, "%s{", m->name);
                label(p, "", "path", s->path);
                put_format(p, ",size=\"%dx%d@%.4g%s\"}", e->width, e->height, e->fps,
                           e->passes ? " own" : "");
                value(p, metric_read(m, e));
            }
        }
    }
}

static void audio_encoders(struct put *p, const struct stats *f)
{
    for (const struct metric *m = metrics_of_audio_encoder; m->name; m++) {
        family(p, m->name, m->type, m->help);
        for (int i = 0; i < f->stream_count; i++) {
            if (!f->streams[i].audio_bps)
                continue;
            put_format(p, "%s{", m->name);
            label(p, "", "path", f->streams[i].path);
            put_format(p, "}");
            value(p, metric_read(m, &f->streams[i]));
        }
    }
}

// Metrics of the process, with the names that all Prometheus exporters use.
static void process(struct put *p, const struct stats *f, const struct process_stats *u)
{
    plain(p, "process_cpu_seconds_total", METRIC_COUNTER, "User and system CPU time.",
          u->user_seconds + u->system_seconds);
    plain(p, "process_resident_memory_bytes", METRIC_GAUGE, "Resident memory.", u->resident_bytes);
    plain(p, "process_start_time_seconds", METRIC_GAUGE, "Start time of the program, since 1970.",
          (double)f->begun_wall / 1e6);
    plain(p, "process_open_fds", METRIC_GAUGE, "Open files.",
          u->open_files < 0 ? NAN : u->open_files);
    plain(p, "process_max_fds", METRIC_GAUGE, "Maximum number of open files.",
          u->max_files < 0 ? NAN : u->max_files);
}

int metrics_text(const struct stats *f, const struct process_stats *p, char *out, size_t cap)
{
    struct put text = put_into(out, cap);
    build(&text, f);
    transports(&text, f);
    plain(&text, "weir_thinned_frames_total", METRIC_COUNTER,
          "Frames omitted to get within a session's rate at once.", (double)f->total.thinned);
    plain(&text, "weir_sound_dropped_packets_total", METRIC_COUNTER,
          "Audio packets dropped after their deadline.", (double)f->total.audio_dropped);
    frames(&text, f);
    session_info(&text, f);
    session_table(&text, f, metrics_of_session, NULL);
    session_table(&text, f, metrics_of_feedback, is_reported);
    session_table(&text, f, metrics_of_relay, is_relayed);
    session_table(&text, f, metrics_of_audio, has_audio);
    controllers(&text, f);
    for (const struct metric *m = metrics_of_cache; m->name && f->cache.is_used; m++)
        plain(&text, m->name, m->type, m->help, metric_read(m, &f->cache));
    for (const struct metric *m = metrics_of_http; m->name && f->http.is_used; m++)
        plain(&text, m->name, m->type, m->help, metric_read(m, &f->http));
    encoders(&text, f);
    audio_encoders(&text, f);
    process(&text, f, p);
    return put_result(&text);
}
