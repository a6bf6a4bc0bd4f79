// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/simulator/report.h"

#include <inttypes.h>
#include <math.h>

#include "player/report/qoe_json.h"

// JSON has no NaN.
static void put_number(FILE *out, const char *name, double x)
{
    if (isfinite(x))
        fprintf(out, ",\"%s\":%.9g", name, x);
    else
        fprintf(out, ",\"%s\":null", name);
}

static void put_count(FILE *out, const char *name, uint64_t x)
{
    fprintf(out, ",\"%s\":%" PRIu64, name, x);
}

// Texts come from the command line.
static void put_text(FILE *out, const char *name, const char *text)
{
    fprintf(out, ",\"%s\":\"", name);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else
            fputc(*c >= ' ' && *c <= '~' ? *c : '?', out);
    }
    fputc('"', out);
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : (double)NAN;
}

// From the flow's start, or since when figures count, to its stop or the end.
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

static void report_flow(FILE *out, const struct sim_report_run *r, uint32_t i)
{
    const struct flow *f = r->sim->flows[i];
    const struct meter *m = &r->meters[i];
    const struct flow_counts *c = &f->counts;
    struct flow_state state;
    f->ops->state(f, &state, r->end);
    uint64_t sent = c->sent_packets - m->at.sent_packets;
    uint64_t dropped = c->dropped - m->at.dropped;
    fprintf(out, "{\"what\":\"flow\",\"flow\":%" PRIu32 ",\"group\":%d", i, r->sim->group_of[i]);
    put_number(out, "start", usec_to_sec(f->start));
    put_number(out, "goodput_bps", goodput(r, i));
    put_number(out, "sent_bps", bps(c->sent_bytes - m->at.sent_bytes, seconds_of(r, f)));
    put_number(out, "loss", ratio((double)dropped, (double)sent));
    put_number(out, "burst_rate", spread_variation(&m->rate));
    put_number(out, "burst_tx1s", spread_variation(&m->tx_1s));
    put_number(out, "burst_tx100ms", spread_variation(&m->tx_100ms));
    put_count(out, "sent_packets", sent);
    put_count(out, "dropped", dropped);
    put_count(out, "arrived_packets", c->arrived_packets - m->at.arrived_packets);
    put_count(out, "retransmits", c->retransmits - m->at.retransmits);
    put_count(out, "fast_retransmits", c->fast_retransmits - m->at.fast_retransmits);
    put_count(out, "timeouts", c->timeouts - m->at.timeouts);
    put_count(out, "lost", c->lost - m->at.lost);
    put_count(out, "feedback_packets", c->feedback_packets - m->at.feedback_packets);
    put_count(out, "feedback_bytes", c->feedback_bytes - m->at.feedback_bytes);
    put_count(out, "transfers", c->transfers - m->at.transfers);
    put_number(out, "rate_bps", state.rate_bps);
    put_number(out, "srtt_ms", state.srtt ? usec_to_msec(state.srtt) : (double)NAN);
    put_number(out, "loss_events", state.loss_events);
    fputs("}\n", out);
}

void sim_report_flows(FILE *out, const struct sim_report_run *r)
{
    for (uint32_t i = 0; i < r->sim->count; i++)
        report_flow(out, r, i);
}

static void report_group(FILE *out, const struct sim_report_run *r, int group)
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
    fprintf(out, "{\"what\":\"group\",\"group\":%d", group);
    put_text(out, "text", r->scenario->groups[group].text);
    put_count(out, "n", n);
    put_number(out, "goodput_bps", sum);
    put_number(out, "loss", ratio((double)dropped, (double)sent));
    put_number(out, "jain", sim_jain(sum, squares, n));
    fputs("}\n", out);
}

static void report_link(FILE *out, const struct sim *s, int hop, bool right)
{
    const struct link_figures *f = link_all_figures(chain_link_at(&s->chain, hop, right));
    uint64_t dropped = 0;
    for (int i = 0; i < LINK_DROP_CAUSES; i++)
        dropped += f->dropped[i];
    fprintf(out, "{\"what\":\"link\",\"hop\":%d,\"to\":\"%s\"", hop, right ? "right" : "left");
    put_count(out, "packets_in", f->packets_in);
    put_count(out, "packets_out", f->packets_out);
    put_count(out, "bytes_out", f->bytes_out);
    put_count(out, "dropped", dropped);
    put_count(out, "marked", f->marked);
    put_count(out, "queue_max_bytes", f->queue_max_bytes);
    put_number(out, "queue_delay_p50_ms", hist_quantile_us(&f->queue_delay, 0.5) / 1e3);
    put_number(out, "queue_delay_p99_ms", hist_quantile_us(&f->queue_delay, 0.99) / 1e3);
    fputs("}\n", out);
}

void sim_report_summary(FILE *out, const struct sim_report_run *r)
{
    for (int g = 0; g < r->scenario->group_count; g++)
        report_group(out, r, g);
    for (int h = 0; h < 2 * r->scenario->hops; h++)
        report_link(out, r->sim, h / 2, h % 2 == 0);
    fprintf(out, "{\"what\":\"run\",\"seed\":%" PRIu64, r->scenario->seed);
    put_number(out, "seconds", usec_to_sec(r->end));
    put_number(out, "since", usec_to_sec(r->since));
    put_count(out, "flows", r->sim->count);
    put_count(out, "events", r->sim->world.events);
    fputs("}\n", out);
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
