// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/simulator/film_sessions.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/program/program_main.h"
#include "lab/abr/abr_optimum.h"
#include "lab/emulator/text_file.h"
#include "player/report/json_value.h"

enum { TRACES_MAX = 240, DIGITS = 7 };

struct options {
    const char *traces[TRACES_MAX]; // borrowed from argv, as are all texts
    int trace_count;
    const char *policy, *film, *decisions;
    bool segments;
    int seconds, kernel_bytes, mean_kbps; // 0: not scaled
    usec_t rtt, target;
};

struct program {
    const struct options *options;
    struct abr_film film;
    FILE *decisions; // NULL: none
    const char *trace;
};

static const char *read_trace(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct options *o = options;
    if (o->trace_count == TRACES_MAX)
        return "at most 240 traces";
    o->traces[o->trace_count++] = value;
    return NULL;
}

static const char *policy_value(int i, const char **help)
{
    const char *name = abr_policy_name(i);
    int count = 0;
    while (abr_policy_name(count))
        count++;
    *help = NULL;
    if (i == count)
        *help = "an upper bound of what any policy can reach that knows the future";
    return i == count ? "optimum" : name;
}

#define AT(member) offsetof(struct options, member)

// clang-format off
static const struct option_row rows[] = {
    {.section = "Paths", .name = "trace", .argument = "FILE", .operand = true, .repeats = true,
     .read = read_trace,
     .help = "rates of the path over time: lines of seconds and Mbit/s, or the ms at which a packet of "
             "1500 bytes may leave; it begins again after its end"},
    {.name = "mean", .argument = "KBPS", .kind = OPTION_INT, .at = AT(mean_kbps), .max = 1000000,
     .fallback = "0", .help = "scale each trace to this mean; 0: do not"},
    {.name = "rtt", .argument = "MS", .kind = OPTION_MSEC, .at = AT(rtt), .min = 1, .max = 10000,
     .fallback = "50", .help = "round-trip time"},
    {.section = "Viewing", .name = "policy", .argument = "NAME", .kind = OPTION_TEXT,
     .at = AT(policy), .fallback = "auto", .value = policy_value, .help = "which levels are requested:"},
    {.name = "film", .argument = "NAME", .kind = OPTION_TEXT, .at = AT(film), .fallback = "goddard",
     .help = "goddard: seven levels of 80 to 1920 kbit/s; vbr:SEED: of 145 to 2000 kbit/s with groups of "
             "varying sizes, and with quality"},
    {.name = "seconds", .argument = "S", .kind = OPTION_INT, .at = AT(seconds), .min = 2,
     .max = 21600, .fallback = "600", .help = "length of the film"},
    {.name = "buffer", .argument = "S", .kind = OPTION_SECONDS, .at = AT(target), .min = 4, .max = 120,
     .fallback = "30", .help = "max media in the viewer's buffer"},
    {.name = "segments", .kind = OPTION_SWITCH, .at = AT(segments),
     .help = "request a group at a time, as players over HTTP do; by default groups are streamed"},
    {.name = "kernel", .argument = "BYTES", .kind = OPTION_INT, .at = AT(kernel_bytes), .max = 10000000,
     .fallback = "12500", .help = "bytes between the sender's choice of a group and the path"},
    {.section = "Output: a JSON line per trace", .name = "decisions", .argument = "FILE",
     .kind = OPTION_FILE, .at = AT(decisions), .help = "write a CSV with one decision per line"},
    OPTION_ROWS_HELP,
};
// clang-format on

static const struct option_table table = {
    .program = "weir-sim abr",
    .usage = "[OPTION]... TRACE...",
    .brief = "view prepared films over traces of a path",
    .about =
        "Views a prepared film over each TRACE, on a virtual clock: the same command line gives "
        "the same results.",
    .rows = rows,
};

static enum options_result parse(int argc, char **argv, void *options, FILE *out, char *error,
                                 size_t cap)
{
    struct options *o = options;
    *o = (struct options){.policy = "auto",
                          .film = "goddard",
                          .seconds = 600,
                          .kernel_bytes = 12500,
                          .rtt = 50 * USEC_PER_MSEC,
                          .target = 30 * USEC_PER_SEC};
    char *file; // unused: there is no --config
    enum options_result result = command_line_read(&table, argc, argv, o, &file, out, error, cap);
    if (result == OPTIONS_RUN && o->trace_count == 0) {
        snprintf(error, cap, "a TRACE is required");
        return OPTIONS_BAD;
    }
    return result;
}

static void on_decided(void *ctx, const struct abr_decided *d)
{
    struct program *p = ctx;
    const struct abr_decision *c = &d->decision;
    fprintf(p->decisions, "%s,%.6g,%lld,%d,%s,%.6g,%.6g,%.4g,%.6g\n", p->trace, usec_to_sec(d->at),
            (long long)c->group, c->level, abr_reason_name(c->reason), usec_to_sec(d->buffered),
            c->estimate_bps, c->error, c->pace_bps);
}

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static bool print(json_t *line)
{
    bool good = line && json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)) == 0 &&
                fputc('\n', stdout) != EOF;
    json_decref(line);
    return good;
}

static int optimum(struct program *p, const struct rate_trace *trace)
{
    struct abr_optimum o;
    int err = abr_optimum_find(&p->film, trace, p->options->rtt, p->options->target, &o);
    if (err)
        return err;
    json_t *line =
        json_pack("{s:o,s:o,s:o,s:o}", "trace", json_text(p->trace), "qoe", number(o.qoe),
                  "stalled_s", number(o.stalled_s), "min_stalled_s", number(o.min_stalled_s));
    return print(line) ? 0 : ERR_IO;
}

static int view(struct program *p, const struct rate_trace *trace)
{
    const struct options *o = p->options;
    struct abr_config config = {.table = p->film.table, .target = o->target};
    memcpy(config.bitrates_bps, p->film.bitrates_bps, sizeof(config.bitrates_bps));
    struct abr_session s = {.film = &p->film,
                            .trace = trace,
                            .delivery = o->segments ? ABR_SEGMENTS : ABR_STREAM,
                            .rtt = o->rtt,
                            .target = o->target,
                            .kernel_bytes = o->kernel_bytes,
                            .decided = p->decisions ? on_decided : NULL,
                            .ctx = p};
    struct abr_result r;
    int err = abr_policy_new(o->policy, &config, &s.policy);
    if (!err)
        err = abr_session_run(&s, &r);
    abr_policy_free(s.policy);
    if (err)
        return err;
    json_t *line = json_pack(
        "{s:o,s:b,s:o,s:o,s:o,s:i,s:o,s:i,s:o,s:o,s:o,s:I,s:I,s:i,s:i}", "trace",
        json_text(p->trace), "complete", r.complete, "seconds", number(r.seconds),
        "first_picture_s", number(r.first_picture_s), "stalled_s", number(r.stalled_s), "stalls",
        r.stalls, "kbps", number(r.mean_kbps), "changes", r.changes, "qoe", number(r.qoe),
        "ssim_db", number(r.mean_db), "qoe_ssim", number(r.qoe_ssim), "bytes", (json_int_t)r.bytes,
        "wasted", (json_int_t)r.wasted_bytes, "exchanges", r.exchanges, "cuts", r.cuts);
    return print(line) ? 0 : ERR_IO;
}

static int run_trace(struct program *p)
{
    struct rate_trace trace;
    char *text;
    size_t len;
    int line;
    int err = text_file_read(p->trace, &text, &len);
    if (err)
        return err; // logged by text_file_read()
    err = rate_trace_parse(text, len, &trace, &line);
    free(text);
    if (err) {
        log_error("%s, line %d: %s", p->trace, line, err_text(err));
        return err;
    }
    if (p->options->mean_kbps > 0)
        rate_trace_scale(&trace, p->options->mean_kbps * 1e3 / rate_trace_mean_bps(&trace));
    bool bound = strcmp(p->options->policy, "optimum") == 0;
    err = bound ? optimum(p, &trace) : view(p, &trace);
    rate_trace_destroy(&trace);
    if (err)
        log_error("%s: %s", p->trace, err == ERR_NOT_FOUND ? "no such policy" : err_text(err));
    return err;
}

static int run(void *options)
{
    struct program p = {.options = options};
    signal(SIGPIPE, SIG_DFL); // a filter: ends when its output's reader, such as head(1), has gone
    int err = abr_film_init(&p.film, p.options->film, p.options->seconds);
    if (err) {
        log_error("--film %s: %s (expects goddard or vbr:SEED)", p.options->film, err_text(err));
        return EXIT_FAILURE;
    }
    if (p.options->decisions && !(p.decisions = fopen(p.options->decisions, "w"))) {
        log_error("%s: %s", p.options->decisions, strerror(errno));
        err = ERR_IO;
    }
    if (p.decisions)
        fputs("trace,time,group,level,reason,buffer_s,estimate_bps,error,pace_bps\n", p.decisions);
    for (int i = 0; i < p.options->trace_count && !err; i++) {
        p.trace = p.options->traces[i];
        err = run_trace(&p);
    }
    if (p.decisions && fclose(p.decisions) != 0)
        err = ERR_IO;
    abr_film_destroy(&p.film);
    return err || fflush(stdout) != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int film_sessions_main(int argc, char **argv)
{
    static struct options options;
    return program_main(
        &(struct program_parts){
            .name = "weir-sim abr", .options = &options, .parse = parse, .run = run},
        argc, argv);
}
