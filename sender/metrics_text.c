// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/metrics_text.h"

#include <math.h>

#include "common/base/put.h"

// ---- Samples ----

static void family(struct put *p, const char *name, const char *type, const char *help)
{
    put_format(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

// Whole numbers as such: counters of bytes must not lose their last digits.
static void value(struct put *p, double v)
{
    bool whole = v == floor(v) && fabs(v) < 9007199254740992.0; // 2^53
    put_format(p, whole ? " %.0f\n" : " %.12g\n", v);
}

// Label values: backslash, quote and newline are escaped.
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

// ---- Tables ----

enum kind { INT, U64, SIZE, DOUBLE, USEC, BOOL };

struct metric {
    const char *name, *type, *help;
    size_t at; // of the figure in its struct
    enum kind kind;
    double unit; // of the figure, in the metric's
};

static double read_figure(const struct metric *m, const void *from)
{
    const void *at = (const char *)from + m->at;
    switch (m->kind) {
    case INT:
        return *(const int *)at * m->unit;
    case U64:
        return (double)*(const uint64_t *)at * m->unit;
    case SIZE:
        return (double)*(const size_t *)at * m->unit;
    case USEC:
        return (double)*(const usec_t *)at * m->unit;
    case BOOL:
        return *(const bool *)at ? 1 : 0;
    default:
        return *(const double *)at * m->unit;
    }
}

#define COUNTER "counter"
#define GAUGE   "gauge"
#define ROW(name, type, help, owner, member, kind, unit)                                           \
    {                                                                                              \
        name, type, help, offsetof(struct owner, member), kind, unit                               \
    }
#define OF_SESSION(name, type, help, member, kind, unit)                                           \
    ROW("weir_session_" name, type, help, session_figures, member, kind, unit)
#define OF_FEEDBACK(name, help, member)                                                            \
    ROW("weir_session_" name, COUNTER, help, session_figures, info.counts.member, U64, 1)
#define OF_ENCODER(name, type, help, member, kind, unit)                                           \
    ROW("weir_encoder_" name, type, help, encoder_figures, member, kind, unit)

static const struct metric session_metrics[] = {
    OF_SESSION("playing", GAUGE, "Whether media is sent.", playing, BOOL, 1),
    OF_SESSION("level", GAUGE, "Quality level that is sent, 0 is the lowest.", level, INT, 1),
    OF_SESSION("packets_total", COUNTER, "RTP packets sent.", packets, U64, 1),
    OF_SESSION("payload_bytes_total", COUNTER, "Bytes of RTP payload sent.", octets, U64, 1),
    OF_SESSION("thinned_frames_total", COUNTER, "Frames left out to be within the rate at once.",
               thinned, U64, 1),
    OF_SESSION("queue_frames", GAUGE, "Frames that wait for the transport.", waiting_frames, INT,
               1),
    OF_SESSION("queue_bytes", GAUGE, "Bytes of the frames that wait.", waiting_bytes, SIZE, 1),
    OF_SESSION("queue_seconds", GAUGE, "Age of the oldest frame that waits.", waiting_ms, DOUBLE,
               1e-3),
    OF_SESSION("rate_bytes_per_second", GAUGE, "What the transport took in the last second.",
               info.rate_bps, DOUBLE, 0.125),
    OF_SESSION("rtt_seconds", GAUGE, "Smoothed round-trip time.", info.rtt_ms, DOUBLE, 1e-3),
    OF_SESSION("loss_ratio", GAUGE, "Part of the packets lost; over TCP, sent again.", info.loss,
               DOUBLE, 1),
    OF_SESSION("loss_event_ratio", GAUGE, "Loss event rate (RFC 5348).", info.loss_events, DOUBLE,
               1),
    OF_SESSION("cwnd_packets", GAUGE, "Congestion window.", info.cwnd_packets, DOUBLE, 1),
    OF_SESSION("unsent_bytes", GAUGE, "Bytes that the transport holds, not on the wire yet.",
               info.unsent_bytes, DOUBLE, 1),
    OF_SESSION("allowed_bytes_per_second", GAUGE, "What the rate controller allows.",
               info.allowed_bps, DOUBLE, 0.125),
    OF_SESSION("target_bytes_per_second", GAUGE, "What the media may have, by the adaptation.",
               adaptation.target_bps, DOUBLE, 0.125),
    OF_SESSION("delivered_bytes_per_second", GAUGE, "What came through lately.",
               adaptation.delivered_bps, DOUBLE, 0.125),
    OF_SESSION("capacity_bytes_per_second", GAUGE, "What came through when it was too much last.",
               adaptation.capacity_bps, DOUBLE, 0.125),
    OF_SESSION("delay_seconds", GAUGE, "By how much a frame that is coded now will be late.",
               adaptation.delay_ms, DOUBLE, 1e-3),
    OF_SESSION("delay_rise_seconds", GAUGE, "Of the delay, over its least of 5 s.",
               adaptation.rise_ms, DOUBLE, 1e-3),
    OF_SESSION("wrong_tokens_total", COUNTER, "Datagrams from who did not prove to be the viewer.",
               wrong_tokens, U64, 1),
};

// Of viewers who report each packet (RFC 8888).
static const struct metric feedback_metrics[] = {
    OF_FEEDBACK("packets_arrived_total", "Packets that the viewer reported.", arrived),
    OF_FEEDBACK("packets_lost_total", "Packets that did not arrive in time.", lost),
    OF_FEEDBACK("packets_ecn_marked_total", "Packets that a router marked.", ce),
    OF_FEEDBACK("reports_total", "Reports that the viewer sent.", reports),
    OF_FEEDBACK("report_timeouts_total", "Times that no report came.", rtos),
};

static const struct metric encoder_metrics[] = {
    OF_ENCODER("frames_total", COUNTER, "Frames coded.", stats.frames, U64, 1),
    OF_ENCODER("key_frames_total", COUNTER, "Of them, key frames.", stats.keys, U64, 1),
    OF_ENCODER("bytes_total", COUNTER, "Bytes of the frames.", stats.bytes, U64, 1),
    OF_ENCODER("overload_frames_total", COUNTER, "Pictures left out because the encoder was busy.",
               stats.overload, U64, 1),
    OF_ENCODER("busy_seconds_total", COUNTER, "Time spent on scaling and coding.", stats.busy, USEC,
               1e-6),
    OF_ENCODER("frame_seconds", GAUGE, "Time a frame takes, smoothed.", stats.encode_ms, DOUBLE,
               1e-3),
    OF_ENCODER("nominal_bytes_per_second", GAUGE, "Rate of the size's highest level.", bitrate_bps,
               INT, 0.125),
};

#define LENGTH(table) (sizeof(table) / sizeof((table)[0]))

// ---- Sessions ----

static void session_info(struct put *p, const struct figures *f)
{
    family(p, "weir_session_info", GAUGE, "What carries the session.");
    for (int i = 0; i < f->session_count; i++) {
        const struct session_figures *s = &f->sessions[i];
        put_format(p, "weir_session_info{session=\"%d\"", s->number);
        label(p, ",", "transport", s->transport);
        put_format(p, "} 1\n");
    }
}

static void session_table(struct put *p, const struct figures *f, const struct metric *table,
                          size_t count, bool reported)
{
    for (const struct metric *m = table; m < table + count; m++) {
        family(p, m->name, m->type, m->help);
        for (int i = 0; i < f->session_count; i++) {
            const struct session_figures *s = &f->sessions[i];
            double v = read_figure(m, s);
            if (!isfinite(v) || (reported && !s->info.is_reported))
                continue;
            put_format(p, "%s{session=\"%d\"}", m->name, s->number);
            value(p, v);
        }
    }
}

// The rate controllers' own figures, in the words and units of their papers.
static void controllers(struct put *p, const struct figures *f)
{
    family(p, "weir_session_controller", GAUGE,
           "A variable of the rate controller, in its paper's units.");
    for (int i = 0; i < f->session_count; i++) {
        const struct session_figures *s = &f->sessions[i];
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

// `session` 0: of all.
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
            put_format(p, "cause=\"%s\",layer=\"%d\"}", figures_causes[cause], layer);
            value(p, (double)c->dropped[cause][layer]);
        }
    }
}

static const char sent_help[] = "Frames that left whole, by temporal layer.";
static const char dropped_help[] = "Frames that never left, by what dropped them and temporal "
                                   "layer.";

static void frames(struct put *p, const struct figures *f)
{
    family(p, "weir_session_frames_sent_total", COUNTER, sent_help);
    for (int i = 0; i < f->session_count; i++)
        sent_frames(p, "weir_session_frames_sent_total", &f->sessions[i].frames,
                    f->sessions[i].number, f->sessions[i].layers);
    family(p, "weir_session_frames_dropped_total", COUNTER, dropped_help);
    for (int i = 0; i < f->session_count; i++)
        dropped_frames(p, "weir_session_frames_dropped_total", &f->sessions[i].frames,
                       f->sessions[i].number, f->sessions[i].layers);
    family(p, "weir_frames_sent_total", COUNTER, sent_help);
    sent_frames(p, "weir_frames_sent_total", &f->total.frames, 0, SCHEDULER_MAX_LAYERS);
    family(p, "weir_frames_dropped_total", COUNTER, dropped_help);
    dropped_frames(p, "weir_frames_dropped_total", &f->total.frames, 0, SCHEDULER_MAX_LAYERS);
}

// ---- The program ----

static void build(struct put *p, const struct figures *f)
{
    family(p, "weir_build_info", GAUGE, "The program's version.");
    put_format(p, "weir_build_info{");
    label(p, "", "version", f->version);
    put_format(p, "} 1\n");
    family(p, "weir_source_info", GAUGE, "What is streamed.");
    put_format(p, "weir_source_info{");
    label(p, "", "source", f->source);
    put_format(p, "} 1\n");
}

static const struct metric transport_metrics[] = {
    ROW("weir_sessions", GAUGE, "Sessions that are open.", transport_figures, open, INT, 1),
    ROW("weir_sessions_total", COUNTER, "Sessions since the start.", transport_figures, sessions,
        U64, 1),
    ROW("weir_packets_total", COUNTER, "RTP packets sent.", transport_figures, packets, U64, 1),
    ROW("weir_payload_bytes_total", COUNTER, "Bytes of RTP payload sent.", transport_figures,
        octets, U64, 1),
};

static void transports(struct put *p, const struct figures *f)
{
    for (const struct metric *m = transport_metrics;
         m < transport_metrics + LENGTH(transport_metrics); m++) {
        family(p, m->name, m->type, m->help);
        for (int i = 0; i < f->transport_count; i++) {
            put_format(p, "%s{", m->name);
            label(p, "", "transport", f->total.transports[i].name);
            put_format(p, "}");
            value(p, read_figure(m, &f->total.transports[i]));
        }
    }
}

static void encoders(struct put *p, const struct figures *f)
{
    for (const struct metric *m = encoder_metrics;
         m < encoder_metrics + LENGTH(encoder_metrics) && f->encoder_count; m++) {
        family(p, m->name, m->type, m->help);
        for (int i = 0; i < f->encoder_count; i++) {
            const struct encoder_figures *e = &f->encoders[i];
            put_format(p, "%s{size=\"%dx%d@%.4g\"}", m->name, e->width, e->height, e->fps);
            value(p, read_figure(m, e));
        }
    }
}

// The names that every exporter gives these.
static void process(struct put *p, const struct figures *f, const struct process_figures *u)
{
    plain(p, "process_cpu_seconds_total", COUNTER, "User and system CPU time.",
          u->user_seconds + u->system_seconds);
    plain(p, "process_resident_memory_bytes", GAUGE, "Resident memory.", u->resident_bytes);
    plain(p, "process_start_time_seconds", GAUGE, "When the program began, since 1970.",
          (double)f->begun_wall / 1e6);
    plain(p, "process_open_fds", GAUGE, "Open files.", u->open_files < 0 ? NAN : u->open_files);
    plain(p, "process_max_fds", GAUGE, "Files that may be open.",
          u->most_files < 0 ? NAN : u->most_files);
}

int metrics_text(const struct figures *f, const struct process_figures *p, char *out, size_t cap)
{
    struct put text = put_into(out, cap);
    build(&text, f);
    transports(&text, f);
    plain(&text, "weir_thinned_frames_total", COUNTER,
          "Frames left out to be within a session's rate at once.", (double)f->total.thinned);
    frames(&text, f);
    session_info(&text, f);
    session_table(&text, f, session_metrics, LENGTH(session_metrics), false);
    session_table(&text, f, feedback_metrics, LENGTH(feedback_metrics), true);
    controllers(&text, f);
    encoders(&text, f);
    process(&text, f, p);
    return put_result(&text);
}
