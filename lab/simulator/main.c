// SPDX-License-Identifier: GPL-2.0-or-later
// weir-sim: constructs, runs, reports.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/program/program_main.h"
#include "lab/simulator/film_sessions.h"
#include "lab/simulator/options.h"
#include "lab/simulator/report.h"

struct program {
    struct sim_options *options;
    struct sim sim;
    struct meter *meters;
    FILE *series, *arrivals, *events;
    char events_path[4096];
};

static bool open_file(const char *path, FILE **out)
{
    if (!path)
        return true;
    *out = fopen(path, "w");
    if (!*out)
        log_error("%s: %s", path, strerror(errno));
    return *out != NULL;
}

static bool close_file(const char *path, FILE *f)
{
    if (!f)
        return true;
    bool good = !ferror(f);
    good = fclose(f) == 0 && good;
    if (!good)
        log_error("cannot write %s", path);
    return good;
}

static void on_arrival(void *ctx, const struct flow_arrival *a, usec_t now)
{
    struct program *p = ctx;
    if (a->flow == p->options->arrivals_of)
        sim_report_arrival(p->arrivals, a, now);
}

static void on_stream(void *ctx, const struct stream_event *e, usec_t now)
{
    struct program *p = ctx;
    sim_report_stream(p->events, e, now);
}

static bool open_streams(struct program *p)
{
    const char *prefix = p->options->streams;
    if (!prefix)
        return true;
    size_t cap = sizeof(p->events_path);
    if ((size_t)snprintf(p->events_path, cap, "%s.csv", prefix) >= cap) {
        log_error("--streams: the path is too long");
        return false;
    }
    if (!open_file(p->events_path, &p->events))
        return false;
    sim_report_stream_header(p->events);
    sim_watch_streams(&p->sim, on_stream, p);
    return true;
}

static bool start(struct program *p)
{
    char error[256];
    const struct sim_options *o = p->options;
    if (sim_init(&p->sim, &o->scenario, error, sizeof(error))) {
        log_error("%s", error);
        return false;
    }
    if (o->arrivals && o->arrivals_of >= p->sim.count) {
        log_error("--arrivals: flows are numbered from 0 to %u", p->sim.count - 1);
        return false;
    }
    p->meters = calloc(p->sim.count, sizeof(*p->meters));
    if (!p->meters || !open_file(o->series, &p->series) || !open_file(o->arrivals, &p->arrivals) ||
        !open_streams(p))
        return false;
    for (uint32_t i = 0; i < p->sim.count; i++)
        meter_init(&p->meters[i], o->since);
    if (p->series)
        sim_report_series_header(p->series);
    if (p->arrivals) {
        sim_report_arrival_header(p->arrivals);
        sim_watch(&p->sim, on_arrival, p);
    }
    return true;
}

static void sample(struct program *p, usec_t now)
{
    for (uint32_t i = 0; i < p->sim.count; i++)
        meter_sample(&p->meters[i], p->sim.flows[i], now);
}

static void simulate(struct program *p)
{
    usec_t end = p->options->duration;
    usec_t next_sample = 0;
    usec_t next_series = p->series ? 0 : USEC_NEVER;
    for (usec_t now = 0; now < end;) {
        now = usec_min(usec_min(next_sample, next_series), end);
        sim_run(&p->sim, now);
        if (p->options->till_ended && now >= p->options->since && sim_streams_ended(&p->sim))
            end = p->options->duration = now;
        if (now == next_sample) {
            sample(p, now);
            next_sample += METER_STEP;
        }
        if (now == next_series) {
            sim_report_series(p->series, &p->sim, now);
            next_series += p->options->step;
        }
    }
}

static bool report(struct program *p)
{
    const struct sim_options *o = p->options;
    struct sim_report_run r = {&p->sim, &o->scenario, p->meters, o->since, o->duration};
    if ((o->quiet || sim_report_flows(stdout, &r)) && sim_report_summary(stdout, &r) &&
        fflush(stdout) == 0 && !ferror(stdout))
        return true;
    log_error("output: %s", strerror(errno));
    return false;
}

static int run(void *options)
{
    static struct program p;
    struct sim_options *o = p.options = options;
    signal(SIGPIPE, SIG_DFL); // a filter: ends when its output's reader, such as head(1), has gone
    bool good = start(&p);
    if (good) {
        simulate(&p);
        good = report(&p);
    }
    if (good && o->streams)
        good = sim_report_qoe(o->streams, &p.sim, o->duration);
    good = close_file(p.events_path, p.events) && good;
    good = close_file(o->series, p.series) && good;
    good = close_file(o->arrivals, p.arrivals) && good;
    sim_destroy(&p.sim);
    free(p.meters);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    static struct sim_options options;
    if (argc > 1 && strcmp(argv[1], "abr") == 0)
        return film_sessions_main(argc - 1, argv + 1);
    return program_main(&(struct program_parts){.name = "weir-sim",
                                                .options = &options,
                                                .parse = sim_options_parse,
                                                .run = run,
                                                .destroy = sim_options_destroy},
                        argc, argv);
}
