// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/simulator/options.h"

#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "lab/emulator/text_file.h"
#include "lab/link/link_spec_read.h"
#include "lab/sim/meter.h"

static const char help[] =
    "Usage: weir-sim [OPTIONS] --link SPEC GROUP...\n"
    "Flows over a simulated network, on a virtual clock: the same words give the same figures.\n"
    "\n"
    "NETWORK: routers 0 to HOPS in a row; flows hang on them by access links\n"
    "  --link SPEC         of each hop from left to right, such as\n"
    "                      rate=10mbit,queue=droptail:208p; the text that weir-link takes\n"
    "  --back SPEC         from right to left (default: as --link)\n"
    "  --hops N            1 to 64 (default 1: a dumbbell; more: a parking lot)\n"
    "GROUP of flows: KIND[:KEY=VALUE,...]\n"
    "  reno, newreno, sack TCP with everything to send\n"
    "  web                 TCP connections one after the other, sizes and pauses "
    "Pareto-distributed\n"
    "  mtp                 MTP with everything to send\n"
    "  cbr                 packets at a constant rate, always or on and off\n"
    "  datagram            weir-send's datagram flow under a rate controller\n"
    "  stream              a session: weir-send's scheduler, a transport, weir-play's buffer and\n"
    "                      Goddard policy\n"
    " of all kinds\n"
    "  n=1 from=0 to=HOPS  how many; from which router to which (from=1,to=0 runs left)\n"
    "  rtt=T or T..T       without queues; evenly over the flows (default: that of the hops)\n"
    "  start=0s stop=T spread=0s  spread: each begins up to that later, at random\n"
    "  access=100mbit      access links; loss=0%: on the sink's, each way\n"
    "  overhead=0us        up to that a packet, at random, in the sending host\n"
    "  local=R localq=20p  a line of the sink's own behind the last router, drop-tail, both ways\n"
    "  size=1500B          of packets\n"
    " of TCP and web\n"
    "  window=10000p iw=2p minrto=1s delack=100ms (0: none)\n"
    "  ca=ack              congestion avoidance: + 1/cwnd an ACK; count: + 1 a cwnd of ACKs\n"
    "  ts=0                1: time stamps, which time every ACK\n"
    "  packets=N           TCP: ends after so many\n"
    "  tcp=newreno bytes=50KB think=1s shape=1.5   web: means and shape\n"
    "  objects=1 pause=pareto   web: of a page, before a pause; exp: exponentially distributed\n"
    " of mtp: mode=strict (fill, resend) newreno=0 (1: a hole a round trip) iw=2p minrto=1s ts=0\n"
    " of cbr: rate=R on=T off=T shape=X   shape: the times are means of Pareto distributions\n"
    " of datagram\n"
    "  cc=NAME[:PARAMS]    such as tfrc:selfclock; a / stands for the comma between PARAMS\n"
    "  rate=R              of media (default: greedy); max=1gbit; ect=1: ECN-capable\n"
    " of stream (and TCP's keys, with tcp=newreno, where its transport is simulated TCP)\n"
    "  via=NAME[:PARAMS]   tcp (a send buffer without end), tcp:sndbuf=64KB, minbuf:1/3, udp, "
    "psp,\n"
    "                      tfrc, arc, mtp, mtp:queue=65536 ...; / for the comma\n"
    "  media=goddard length=300s fragment=1000B latency=1s   latency: in the scheduler\n"
    "  sizes=FILE          frames vary in size as these do: a frame's bytes a line, as ffprobe\n"
    "                      -select_streams v -show_entries packet=size -of csv=p=0 prints them\n"
    "  pair=1              0: no pair of packets passes; the first media tells the capacity\n"
    "  parts=0             1: frames that came in part count as whole\n"
    "  goddard=NAME=VALUE/...  the policy's parameters, such as upscale_interval=30\n"
    "RUN\n"
    "  --seconds S         (default 100)\n"
    "  --since S           figures count from then, to 0.1 s (default 0)\n"
    "  --till-ended        no longer than until all streams were played to their ends\n"
    "  --seed N            of all that is random (default 1)\n"
    "  --scenario FILE     words of this command line from a file; # begins a comment\n"
    "OUTPUT: a JSON line a flow, group, direction of a hop, and run\n"
    "  --series FILE       CSV: sums and state of each flow, each --step S (default 1)\n"
    "  --streams PREFIX    of streams: PREFIX-FLOW.json, the report that weir-play writes, and\n"
    "                      PREFIX.csv: what happened, an event a line\n"
    "  --arrivals FLOW:FILE  CSV: each packet that reached that flow's sink\n"
    "  --quiet             no line a flow\n"
    "  --version, -h, --help\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage.\n";

enum {
    OPT_LINK = 256,
    OPT_BACK,
    OPT_HOPS,
    OPT_SECONDS,
    OPT_SINCE,
    OPT_SEED,
    OPT_SERIES,
    OPT_STEP,
    OPT_ARRIVALS,
    OPT_QUIET,
    OPT_STREAMS,
    OPT_TILL_ENDED,
    OPT_VERSION
};

static const struct option long_options[] = {
    {"link", required_argument, NULL, OPT_LINK},
    {"back", required_argument, NULL, OPT_BACK},
    {"hops", required_argument, NULL, OPT_HOPS},
    {"seconds", required_argument, NULL, OPT_SECONDS},
    {"since", required_argument, NULL, OPT_SINCE},
    {"seed", required_argument, NULL, OPT_SEED},
    {"series", required_argument, NULL, OPT_SERIES},
    {"step", required_argument, NULL, OPT_STEP},
    {"arrivals", required_argument, NULL, OPT_ARRIVALS},
    {"streams", required_argument, NULL, OPT_STREAMS},
    {"till-ended", no_argument, NULL, OPT_TILL_ENDED},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct reading {
    struct sim_options *o;
    FILE *err;
    bool has_link, has_back;
};

__attribute__((format(printf, 2, 3))) static bool bad(FILE *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("weir-sim: ", err);
    vfprintf(err, format, args);
    fputs("\n", err);
    va_end(args);
    return false;
}

static bool read_seconds(struct reading *r, const char *name, const char *text, double least,
                         usec_t *out)
{
    char *end;
    double s = strtod(text, &end);
    if (end == text || *end || !(s >= least && s <= SIM_OPTIONS_SECONDS))
        return bad(r->err, "--%s: '%.40s' is not a number from %g to %d", name, text, least,
                   SIM_OPTIONS_SECONDS);
    *out = llround(s * 1e6);
    return true;
}

static bool read_int(struct reading *r, const char *name, const char *text, int64_t least,
                     int64_t most, int64_t *out)
{
    struct scan s = scan_of(text, strlen(text));
    if (scan_int(&s, most, out) && scan_end(&s) && *out >= least)
        return true;
    return bad(r->err, "--%s: '%.40s' is not a number from %lld to %lld", name, text,
               (long long)least, (long long)most);
}

static bool read_link(struct reading *r, const char *name, const char *text, struct link_spec *spec)
{
    char why[256];
    if (link_spec_parse(text, spec, why, sizeof(why)) == 0)
        return true;
    return bad(r->err, "--%s: %s", name, why);
}

static bool read_arrivals(struct reading *r, const char *text)
{
    struct scan s = scan_of(text, strlen(text));
    int64_t flow;
    if (!scan_int(&s, SCENARIO_FLOWS - 1, &flow) || !scan_char(&s, ':') || scan_end(&s))
        return bad(r->err, "--arrivals takes FLOW:FILE, not '%.40s'", text);
    r->o->arrivals_of = flow;
    r->o->arrivals = s.at;
    return true;
}

static bool apply(struct reading *r, int option, const char *value)
{
    struct sim_options *o = r->o;
    int64_t number = 0;
    bool good = true;
    switch (option) {
    case OPT_LINK:
        r->has_link = true;
        return read_link(r, "link", value, &o->scenario.right);
    case OPT_BACK:
        r->has_back = true;
        return read_link(r, "back", value, &o->scenario.left);
    case OPT_HOPS:
        good = read_int(r, "hops", value, 1, CHAIN_HOPS_MAX, &number);
        o->scenario.hops = (int)number;
        return good;
    case OPT_SEED:
        good = read_int(r, "seed", value, 0, INT64_MAX / 10 - 1, &number);
        o->scenario.seed = (uint64_t)number;
        return good;
    case OPT_SECONDS:
        return read_seconds(r, "seconds", value, 0.001, &o->duration);
    case OPT_SINCE:
        return read_seconds(r, "since", value, 0, &o->since);
    case OPT_STEP:
        return read_seconds(r, "step", value, 0.1, &o->step);
    case OPT_SERIES:
        o->series = value;
        return true;
    case OPT_STREAMS:
        o->streams = value;
        return true;
    case OPT_TILL_ENDED:
        o->till_ended = true;
        return true;
    case OPT_ARRIVALS:
        return read_arrivals(r, value);
    default:
        o->quiet = true;
        return true;
    }
}

static bool read_group(struct reading *r, const char *text)
{
    struct scenario *sc = &r->o->scenario;
    char why[256];
    if (sc->group_count == SCENARIO_GROUPS)
        return bad(r->err, "at most %d groups", SCENARIO_GROUPS);
    if (group_parse(text, &sc->groups[sc->group_count++], why, sizeof(why)))
        return bad(r->err, "%.80s: %s", text, why);
    return true;
}

// Ends its words in place.
static bool split_words(struct reading *r, char *text, char **words, int *count)
{
    for (char *at = text; *at;) {
        if (*at == '#') {
            at += strcspn(at, "\n");
        } else if (strchr(" \t\r\n", *at)) {
            at++;
        } else {
            if (*count == SIM_OPTIONS_WORDS)
                return bad(r->err, "at most %d words", SIM_OPTIONS_WORDS);
            words[(*count)++] = at;
            at += strcspn(at, " \t\r\n");
            if (*at)
                *at++ = '\0';
        }
    }
    return true;
}

// --scenario FILE gives way to the file's words.
static bool expand(struct reading *r, int argc, char **argv, char **words, int *count)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--scenario") != 0) {
            if (*count == SIM_OPTIONS_WORDS)
                return bad(r->err, "at most %d words", SIM_OPTIONS_WORDS);
            words[(*count)++] = argv[i];
            continue;
        }
        size_t len;
        if (++i == argc || r->o->file)
            return bad(r->err, "--scenario needs a FILE, and stands there once");
        if (text_file_read(argv[i], &r->o->file, &len))
            return false; // logged there
        if (strlen(r->o->file) != len)
            return bad(r->err, "%.200s: not a text", argv[i]);
        if (!split_words(r, r->o->file, words, count))
            return false;
    }
    return true;
}

static bool load_trace(struct reading *r, const struct link_spec *spec, int i, const char **text,
                       size_t *len)
{
    if (!spec->trace[0])
        return true;
    if (text_file_read(spec->trace, &r->o->traces[i], len))
        return false; // logged there
    *text = r->o->traces[i];
    return true;
}

static bool load_sizes(struct reading *r, struct group *g)
{
    char *text;
    size_t len;
    size_t line;
    if (!g->sizes_path[0])
        return true;
    if (text_file_read(g->sizes_path, &text, &len))
        return false; // logged there
    int err = frame_sizes_parse(text, len, &g->sizes, &line);
    free(text);
    return !err || bad(r->err, "%.200s, line %zu: %s", g->sizes_path, line, err_text(err));
}

static bool finish(struct reading *r)
{
    struct sim_options *o = r->o;
    struct scenario *sc = &o->scenario;
    if (!r->has_link)
        return bad(r->err, "--link SPEC is needed");
    if (!r->has_back)
        sc->left = sc->right;
    if (sc->group_count == 0)
        return bad(r->err, "a GROUP of flows is needed");
    if (o->since > o->duration)
        return bad(r->err, "--since is behind the end");
    for (int i = 0; i < sc->group_count; i++)
        if (!load_sizes(r, &sc->groups[i]))
            return false;
    // Figures are sampled.
    o->since = (o->since + METER_STEP - 1) / METER_STEP * METER_STEP;
    return load_trace(r, &sc->right, 0, &sc->right_trace, &sc->right_trace_len) &&
           load_trace(r, &sc->left, 1, &sc->left_trace, &sc->left_trace_len);
}

static enum sim_options_result parse_words(struct reading *r, int argc, char **argv, FILE *out)
{
    optind = 0; // begin anew, also for a second call
    opterr = 0;
    int option;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (option == 'h' || option == OPT_VERSION) {
            fputs(option == 'h' ? help : "weir-sim " WEIR_VERSION "\n", out);
            return SIM_OPTIONS_DONE;
        }
        if (option == ':' || option == '?') {
            bad(r->err, "%s %s", argv[optind - 1],
                option == ':' ? "needs a value" : "is not an option");
            return SIM_OPTIONS_BAD;
        }
        if (!apply(r, option, optarg))
            return SIM_OPTIONS_BAD;
    }
    for (; optind < argc; optind++) {
        if (!read_group(r, argv[optind]))
            return SIM_OPTIONS_BAD;
    }
    return finish(r) ? SIM_OPTIONS_RUN : SIM_OPTIONS_BAD;
}

enum sim_options_result sim_options_parse(int argc, char **argv, struct sim_options *o, FILE *out,
                                          FILE *err)
{
    *o = (struct sim_options){.duration = 100 * USEC_PER_SEC, .step = USEC_PER_SEC};
    o->scenario.hops = 1;
    o->scenario.seed = 1;
    struct reading r = {.o = o, .err = err};
    char *words[SIM_OPTIONS_WORDS + 1];
    int count = 0;
    if (!expand(&r, argc, argv, words, &count))
        return SIM_OPTIONS_BAD;
    words[count] = NULL;
    return parse_words(&r, count, words, out);
}

void sim_options_destroy(struct sim_options *o)
{
    free(o->file);
    free(o->traces[0]);
    free(o->traces[1]);
    for (int i = 0; i < o->scenario.group_count; i++)
        frame_sizes_destroy(&o->scenario.groups[i].sizes);
}
