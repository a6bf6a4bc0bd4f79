// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/simulator/report.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "player/report/json_value.h"
#include "player/report/qoe_json.h"

// Digits of a number: enough for 1 bit/s in 1 Gbit/s.
enum { DIGITS = 9 };

// Writes a number with DIGITS digits; a number that is whole at this precision has no decimal
// point. null: not finite.
static json_t *number(double x)
{
    if (!isfinite(x))
        return json_null();
    char text[32];
    snprintf(text, sizeof(text), "%.*g", DIGITS, x);
    double rounded = strtod(text, NULL);
    return fabs(rounded) < 1e9 && rounded == trunc(rounded) ? json_integer((json_int_t)rounded)
                                                            : json_real(rounded);
}

static void put_number(json_t *line, const char *name, double x)
{
    json_object_set_new(line, name, number(x));
}

static void put_count(json_t *line, const char *name, uint64_t x)
{
    json_object_set_new(line, name, json_integer((json_int_t)x));
}

static json_t *line_new(const char *what)
{
    return json_pack("{s:s}", "what", what);
}

// Takes over `line`. Returns false if it could not be built or written.
static bool write_line(FILE *out, json_t *line)
{
    bool written = json_dumpf(line, out, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)) == 0 &&
                   fputc('\n', out) != EOF;
    json_decref(line);
    return written;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : (double)NAN;
}

// Returns the seconds from the flow's start (or from `since`, if later) to its stop or the end of
// the run.
static double seconds_of(const struct sim_report_run *r, const struct flow *f)
{
    usec_t from = usec_max(f->start, r->since);
    usec_t to = usec_min(f->stop, r->end);
    return usec_to_sec(usec_max(to - from, 0));
}

static double bps(uint64_t bytes, double seconds)
{
    return ratio((double)bytes * 8, seconds);
}

static double goodput(const struct sim_report_run *r, uint32_t i)
{
    const struct flow *f = r->sim->flows[i];
    return bps(f->counts.good_bytes - r->meters[i].at.good_bytes, seconds_of(r, f));
}

// What a stream's proxy did since the start.
static void put_relay(json_t *line, const struct sim_relay *relay, usec_t now)
{
    struct sim_relay_stats s;
    uint64_t dropped = 0;
    sim_relay_read(relay, &s, now);
    for (int cause = 0; cause < DROP_CAUSES; cause++)
        for (int layer = 0; layer < SCHEDULER_MAX_LAYERS; layer++)
            dropped += s.frames.dropped[cause][layer];
    put_count(line, "access_bytes", s.arrived_bytes);
    put_count(line, "proxy_frames", s.bridge.frames);
    put_count(line, "proxy_dropped", dropped);
    put_count(line, "badput_bytes", s.bridge.badput_bytes);
    put_count(line, "marks", s.bridge.marks);
    put_number(line, "queue_ms", usec_to_msec(s.waiting));
    put_number(line, "limit_bps", s.bridge.limit_bps);
}

static void put_paths(json_t *line, const struct two_paths_stats *s)
{
    put_count(line, "second_bytes", s->bytes[1]);
    put_number(line, "second_share",
               ratio((double)s->bytes[1], (double)(s->bytes[0] + s->bytes[1])));
    put_count(line, "copies", s->copies);
    put_count(line, "silences", s->silences);
    put_number(line, "silent_s", usec_to_sec(s->silent));
}

static bool report_flow(FILE *out, const struct sim_report_run *r, uint32_t i)
{
    const struct flow *f = r->sim->flows[i];
    const struct meter *m = &r->meters[i];
    const struct flow_counts *c = &f->counts;
    struct flow_state state;
    f->ops->state(f, &state, r->end);
    uint64_t sent = c->sent_packets - m->at.sent_packets;
    uint64_t dropped = c->dropped - m->at.dropped;
    json_t *line = line_new("flow");
    put_count(line, "flow", i);
    put_count(line, "group", (uint64_t)r->sim->group_of[i]);
    put_number(line, "start", usec_to_sec(f->start));
    put_number(line, "goodput_bps", goodput(r, i));
    put_number(line, "sent_bps", bps(c->sent_bytes - m->at.sent_bytes, seconds_of(r, f)));
    put_number(line, "loss", ratio((double)dropped, (double)sent));
    put_number(line, "burst_rate", spread_variation(&m->rate));
    put_number(line, "burst_tx1s", spread_variation(&m->tx_1s));
    put_number(line, "burst_tx100ms", spread_variation(&m->tx_100ms));
    put_count(line, "sent_packets", sent);
    put_count(line, "dropped", dropped);
    put_count(line, "arrived_packets", c->arrived_packets - m->at.arrived_packets);
    put_count(line, "retransmits", c->retransmits - m->at.retransmits);
    put_count(line, "fast_retransmits", c->fast_retransmits - m->at.fast_retransmits);
    put_count(line, "timeouts", c->timeouts - m->at.timeouts);
    put_count(line, "lost", c->lost - m->at.lost);
    put_count(line, "feedback_packets", c->feedback_packets - m->at.feedback_packets);
    put_count(line, "feedback_bytes", c->feedback_bytes - m->at.feedback_bytes);
    put_count(line, "transfers", c->transfers - m->at.transfers);
    put_number(line, "rate_bps", state.rate_bps);
    put_number(line, "srtt_ms", state.srtt ? usec_to_msec(state.srtt) : (double)NAN);
    put_number(line, "loss_events", state.loss_events);
    if (flow_stream_relay(f))
        put_relay(line, flow_stream_relay(f), r->end);
    struct two_paths_stats paths;
    if (flow_stream_paths(f, &paths, r->end))
        put_paths(line, &paths);
    return write_line(out, line);
}

bool sim_report_flows(FILE *out, const struct sim_report_run *r)
{
    bool written = true;
    for (uint32_t i = 0; i < r->sim->count && written; i++)
        written = report_flow(out, r, i);
    return written;
}

static bool report_group(FILE *out, const struct sim_report_run *r, int group)
{
    double sum = 0;
    double squares = 0;
    size_t n = 0;
    uint64_t sent = 0;
    uint64_t dropped = 0;
    for (uint32_t i = 0; i < r->sim->count; i++) {
        if (r->sim->group_of[i] != group)
            continue;
        const struct flow_counts *c = &r->sim->flows[i]->counts;
        double x = goodput(r, i);
        x = isfinite(x) ? x : 0;
        sum += x;
        squares += x * x;
        sent += c->sent_packets - r->meters[i].at.sent_packets;
        dropped += c->dropped - r->meters[i].at.dropped;
        n++;
    }
    json_t *line = line_new("group");
    put_count(line, "group", (uint64_t)group);
    json_object_set_new(line, "text", json_text(r->scenario->groups[group].text));
    put_count(line, "n", n);
    put_number(line, "goodput_bps", sum);
    put_number(line, "loss", ratio((double)dropped, (double)sent));
    put_number(line, "jain", sim_jain(sum, squares, n));
    return write_line(out, line);
}

static bool report_link(FILE *out, const struct sim *s, int hop, bool right)
{
    const struct link_stats *f = link_all_stats(chain_link_at(&s->chain, hop, right));
    uint64_t dropped = 0;
    for (int i = 0; i < LINK_DROP_CAUSES; i++)
        dropped += f->dropped[i];
    json_t *line = line_new("link");
    put_count(line, "hop", (uint64_t)hop);
    json_object_set_new(line, "to", json_string(right ? "right" : "left"));
    put_count(line, "packets_in", f->packets_in);
    put_count(line, "packets_out", f->packets_out);
    put_count(line, "bytes_out", f->bytes_out);
    put_count(line, "dropped", dropped);
    put_count(line, "marked", f->marked);
    put_count(line, "queue_max_bytes", f->queue_max_bytes);
    put_number(line, "queue_delay_p50_ms", hist_quantile_us(&f->queue_delay, 0.5) / 1e3);
    put_number(line, "queue_delay_p99_ms", hist_quantile_us(&f->queue_delay, 0.99) / 1e3);
    return write_line(out, line);
}

bool sim_report_summary(FILE *out, const struct sim_report_run *r)
{
    bool written = true;
    for (int g = 0; g < r->scenario->group_count && written; g++)
        written = report_group(out, r, g);
    for (int h = 0; h < 2 * r->scenario->hops && written; h++)
        written = report_link(out, r->sim, h / 2, h % 2 == 0);
    if (!written)
        return false;
    json_t *line = line_new("run");
    put_count(line, "seed", r->scenario->seed);
    put_number(line, "seconds", usec_to_sec(r->end));
    put_number(line, "since", usec_to_sec(r->since));
    put_count(line, "flows", r->sim->count);
    put_count(line, "events", r->sim->world.events);
    return write_line(out, line);
}

void sim_report_series_header(FILE *out)
{
    fputs("time,flow,sent_bytes,arrived_bytes,good_bytes,dropped,rate_bps,cwnd,srtt_ms\n", out);
}

static void put_cell(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, ",%.9g", x);
    else
        fputc(',', out);
}

void sim_report_series(FILE *out, const struct sim *s, usec_t now)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct flow *f = s->flows[i];
        struct flow_state state;
        f->ops->state(f, &state, now);
        fprintf(out, "%.9g,%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                usec_to_sec(now), i, f->counts.sent_bytes, f->counts.arrived_bytes,
                f->counts.good_bytes, f->counts.dropped);
        put_cell(out, state.rate_bps);
        put_cell(out, state.cwnd);
        put_cell(out, state.srtt ? usec_to_msec(state.srtt) : (double)NAN);
        fputc('\n', out);
    }
}

void sim_report_stream_header(FILE *out)
{
    fputs("time,flow,event,value,number,text\n", out);
}

void sim_report_stream(FILE *out, const struct stream_event *e, usec_t now)
{
    static const char *const names[] = {"level", "capacity", "start",  "frame", "lost",
                                        "stall", "resume",   "second", "end"};
    fprintf(out, "%.9g,%" PRIu32 ",%s", usec_to_sec(now), e->flow, names[e->kind]);
    put_cell(out, e->value);
    fprintf(out, ",%" PRId64 ",%s\n", e->number, e->text ? e->text : "");
}

bool sim_report_qoe(const char *prefix, const struct sim *s, usec_t now)
{
    bool good = true;
    for (uint32_t i = 0; i < s->count; i++) {
        char path[4096];
        struct qoe_json r;
        const struct stream_viewer *v = flow_stream_viewer(s->flows[i]);
        if (!v)
            continue;
        if ((size_t)snprintf(path, sizeof(path), "%s-%" PRIu32 ".json", prefix, i) >= sizeof(path))
            return false;
        qoe_read(v->qoe, &r, now);
        good = qoe_json_write(&r, path) == 0 && good;
    }
    return good;
}

void sim_report_arrival_header(FILE *out)
{
    fputs("time_us,number,bytes,ecn,sent_us,queue_delay_us\n", out);
}

void sim_report_arrival(FILE *out, const struct flow_arrival *a, usec_t now)
{
    fprintf(out, "%" PRId64 ",%" PRId64 ",%" PRIu32 ",%u,%" PRId64 ",%" PRId64 "\n", now, a->number,
            a->bytes, a->ecn, a->sent_at, a->queue_delay);
}
