// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/simulator/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/scan.h"
#include "lab/sim/meter.h"

static const char *read_link(void *options, const char *value, char *why, size_t cap)
{
    struct sim_options *o = options;
    o->has_link = true;
    return link_spec_parse(value, &o->scenario.right, why, cap) == 0 ? NULL : why;
}

static const char *read_back(void *options, const char *value, char *why, size_t cap)
{
    struct sim_options *o = options;
    o->has_back = true;
    return link_spec_parse(value, &o->scenario.left, why, cap) == 0 ? NULL : why;
}

static const char *read_arrivals(void *options, const char *value, char *why, size_t cap)
{
    (void)why, (void)cap;
    struct sim_options *o = options;
    struct scan s = scan_of(value, strlen(value));
    if (!scan_int(&s, SCENARIO_FLOWS - 1, &o->arrivals_of) || !scan_char(&s, ':') || scan_end(&s))
        return "expects FLOW:FILE";
    o->arrivals = s.at;
    return NULL;
}

// Words of files are there before options are read.
static const char *read_scenario(void *options, const char *value, char *why, size_t cap)
{
    (void)options, (void)value, (void)why, (void)cap;
    return "is written --scenario FILE, in full, and not within a FILE";
}

static const char *read_group(void *options, const char *value, char *why, size_t cap)
{
    struct scenario *sc = &((struct sim_options *)options)->scenario;
    if (sc->group_count == SCENARIO_GROUPS)
        return "too many groups";
    return group_parse(value, &sc->groups[sc->group_count++], why, cap) == 0 ? NULL : why;
}

static const char *group_value(int i, const char **help)
{
    static const char *const list[][2] = {
        {"reno", "TCP with everything to send"},
        {"newreno", "the same with NewReno's recovery"},
        {"sack", "the same with selective acknowledgments"},
        {"web", "TCP connections one after the other, sizes and pauses Pareto-distributed"},
        {"mtp", "MTP with everything to send"},
        {"cbr", "packets at a constant rate, always or on and off"},
        {"datagram", "weir-send's datagram flow under a rate controller"},
        {"stream", "a session: weir-send's scheduler, a transport, weir-play's buffer and Goddard "
                   "policy"},
    };
    if (i >= (int)(sizeof(list) / sizeof(*list)))
        return NULL;
    *help = list[i][1];
    return list[i][0];
}

#define AT(member) offsetof(struct sim_options, member)
#define KEY        .name = "KEY", .operand = true, .kind = OPTION_NOTE

// clang-format off
static const struct option_row rows[] = {
    {.section = "Flows", .name = "group", .argument = "GROUP", .operand = true, .repeats = true,
     .read = read_group, .value = group_value,
     .help = "KIND[:KEY=VALUE,...]; the keys follow, with their defaults. The KINDs:"},

    {.section = "Keys of all kinds", KEY, .argument = "n=1",
     .help = "how many"},
    {KEY, .argument = "from=0 to=HOPS", .help = "from which router to which; from=1,to=0 runs left"},
    {KEY, .argument = "rtt=T or T..T",
     .help = "without queues; evenly over the flows (default: that of the hops)"},
    {KEY, .argument = "start=0s stop=T", .help = "when it sends"},
    {KEY, .argument = "spread=0s", .help = "each begins up to that later, at random"},
    {KEY, .argument = "access=100mbit", .help = "rate of the access links"},
    {KEY, .argument = "loss=0%", .help = "on the sink's access link, each way"},
    {KEY, .argument = "overhead=0us", .help = "up to that a packet, at random, in the sending host"},
    {KEY, .argument = "local=R localq=20p",
     .help = "a line of the sink's own behind the last router, drop-tail, both ways"},
    {KEY, .argument = "size=1500B", .help = "of packets"},

    {.section = "Keys of TCP and web", KEY, .argument = "window=10000p iw=2p",
     .help = "the receiver's window, the first of the sender"},
    {KEY, .argument = "minrto=1s", .help = "least time before a retransmission"},
    {KEY, .argument = "delack=100ms", .help = "delayed ACKs; 0: none"},
    {KEY, .argument = "ca=ack",
     .help = "congestion avoidance: + 1/cwnd an ACK; count: + 1 a cwnd of ACKs"},
    {KEY, .argument = "ts=0", .help = "1: time stamps, which time every ACK"},
    {KEY, .argument = "packets=N", .help = "TCP: ends after so many"},
    {KEY, .argument = "tcp=newreno", .help = "web: reno, newreno or sack"},
    {KEY, .argument = "bytes=50KB think=1s shape=1.5",
     .help = "web: means of objects and pauses, their distribution's shape"},
    {KEY, .argument = "objects=1", .help = "web: of a page, before a pause"},
    {KEY, .argument = "pause=pareto", .help = "web: exp: exponentially distributed"},

    {.section = "Keys of mtp", KEY, .argument = "mode=strict", .help = "or fill, or resend"},
    {KEY, .argument = "newreno=0", .help = "1: a hole a round trip"},
    {KEY, .argument = "iw=2p minrto=1s ts=0", .help = "as TCP's"},

    {.section = "Keys of cbr", KEY, .argument = "rate=R", .help = "while it is on"},
    {KEY, .argument = "on=T off=T", .help = "how long in turn (default: always on)"},
    {KEY, .argument = "shape=X", .help = "the times are means of Pareto distributions"},

    {.section = "Keys of datagram", KEY, .argument = "cc=NAME[:PARAMS]",
     .help = "such as tfrc:selfclock; write / for the comma between PARAMS"},
    {KEY, .argument = "rate=R", .help = "of media (default: greedy)"},
    {KEY, .argument = "max=1gbit", .help = "the highest rate"},
    {KEY, .argument = "ect=1", .help = "ECN-capable"},

    {.section = "Keys of stream, and TCP's where its transport is simulated TCP (tcp=newreno)", KEY,
     .argument = "via=NAME[:PARAMS]",
     .help = "tcp (a send buffer without end), tcp:sndbuf=64KB, minbuf:1/3, udp, psp, tfrc, arc, "
             "mtp, mtp:queue=65536 ...; / for the comma"},
    {KEY, .argument = "media=goddard length=300s fragment=1000B", .help = "what is streamed"},
    {KEY, .argument = "latency=1s", .help = "in the scheduler"},
    {KEY, .argument = "sizes=FILE",
     .help = "frames vary in size as these do: a frame's bytes a line, as ffprobe -select_streams "
             "v -show_entries packet=size -of csv=p=0 prints them"},
    {KEY, .argument = "pair=1",
     .help = "0: no pair of packets passes; the first media tells the capacity"},
    {KEY, .argument = "parts=0", .help = "1: frames that came in part count as whole"},
    {KEY, .argument = "goddard=NAME=VALUE/...",
     .help = "the policy's parameters, such as upscale_interval=30"},

    {.section = "Network: routers 0 to HOPS in a row; flows hang on them by access links",
     .name = "link", .argument = "SPEC", .read = read_link,
     .help = "of each hop from left to right, such as rate=10mbit,queue=droptail:208p; the text "
             "that weir-link takes"},
    {.name = "back", .argument = "SPEC", .read = read_back,
     .help = "from right to left (default: as --link)"},
    {.name = "hops", .argument = "N", .kind = OPTION_INT, .at = AT(scenario.hops), .least = 1,
     .most = CHAIN_HOPS_MAX, .fallback = "1", .help = "1, a dumbbell, to 64: a parking lot"},

    {.section = "Run", .name = "seconds", .argument = "S", .kind = OPTION_SECONDS,
     .at = AT(duration), .least = 0.001, .most = SIM_OPTIONS_SECONDS, .fallback = "100",
     .help = "of virtual time"},
    {.name = "since", .argument = "S", .kind = OPTION_SECONDS, .at = AT(since),
     .most = SIM_OPTIONS_SECONDS, .fallback = "0", .help = "figures count from then, to 0.1 s"},
    {.name = "till-ended", .kind = OPTION_SWITCH, .at = AT(till_ended),
     .help = "no longer than until all streams were played to their ends"},
    {.name = "seed", .argument = "N", .kind = OPTION_SEED, .at = AT(scenario.seed),
     .fallback = "1", .help = "of all that is random"},
    {.name = "scenario", .argument = "FILE", .read = read_scenario,
     .help = "words of this command line from a file; # begins a comment"},

    {.section = "Output: a JSON line a flow, group, direction of a hop, and run", .name = "series",
     .argument = "FILE", .kind = OPTION_FILE, .at = AT(series),
     .help = "CSV: sums and state of each flow"},
    {.name = "step", .argument = "S", .kind = OPTION_SECONDS, .at = AT(step), .least = 0.1,
     .most = SIM_OPTIONS_SECONDS, .fallback = "1", .help = "how often, for --series"},
    {.name = "streams", .argument = "PREFIX", .kind = OPTION_FILE, .at = AT(streams),
     .help = "of streams: PREFIX-FLOW.json, the report that weir-play writes, and PREFIX.csv: "
             "what happened, an event a line"},
    {.name = "arrivals", .argument = "FLOW:FILE", .read = read_arrivals,
     .help = "CSV: each packet that reached that flow's sink"},
    {.name = "quiet", .kind = OPTION_SWITCH, .at = AT(quiet), .help = "no line a flow"},
    OPTION_ROWS_HELP,
};
// clang-format on

const struct option_table sim_option_table = {
    .program = "weir-sim",
    .usage = "[OPTION]... --link SPEC GROUP...",
    .brief = "stream over simulated networks, on a virtual clock",
    .about = "Flows over a simulated network, on a virtual clock: the same words give the same "
             "figures.",
    .rest = "Exit status:\n"
            "    0  done\n"
            "    1  failed\n"
            "    2  wrong usage\n",
    .rows = rows,
};

// NULL, or what is missing or does not go together.
static const char *check(const struct sim_options *o)
{
    return !o->has_link                   ? "--link SPEC is needed"
           : o->scenario.group_count == 0 ? "a GROUP of flows is needed"
           : o->since > o->duration       ? "--since is behind the end"
                                          : NULL;
}

enum options_result sim_options_parse(int argc, char **argv, struct sim_options *o, FILE *out,
                                      FILE *err)
{
    *o = (struct sim_options){.duration = 100 * USEC_PER_SEC, .step = USEC_PER_SEC};
    o->scenario.hops = 1;
    o->scenario.seed = 1;
    char error[1024] = ""; // stays so when what is wrong was logged
    char *words[SIM_OPTIONS_WORDS + 1];
    int count = sim_options_expand(o, argc, argv, words, error, sizeof(error));
    char *file; // there is no --config
    enum options_result result = OPTIONS_BAD;
    if (count >= 0)
        result =
            command_line_read(&sim_option_table, count, words, o, &file, out, error, sizeof(error));
    const char *wrong = result == OPTIONS_BAD ? error : result == OPTIONS_RUN ? check(o) : NULL;
    if (wrong && *wrong)
        fprintf(err, "weir-sim: %s\nTry 'weir-sim --help'.\n", wrong);
    if (wrong || result == OPTIONS_DONE)
        return wrong ? OPTIONS_BAD : OPTIONS_DONE;
    if (!o->has_back)
        o->scenario.left = o->scenario.right;
    // Figures are sampled.
    o->since = (o->since + METER_STEP - 1) / METER_STEP * METER_STEP;
    if (sim_options_load(o, error, sizeof(error)) == 0)
        return OPTIONS_RUN;
    if (error[0])
        fprintf(err, "weir-sim: %s\n", error);
    return OPTIONS_BAD;
}

void sim_options_destroy(struct sim_options *o)
{
    free(o->file);
    free(o->traces[0]);
    free(o->traces[1]);
    for (int i = 0; i < o->scenario.group_count; i++)
        frame_sizes_destroy(&o->scenario.groups[i].sizes);
}
