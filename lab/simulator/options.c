// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/simulator/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/scan.h"
#include "lab/sim/meter.h"

static const char *read_link(void *options, const char *value, char *reason, size_t cap)
{
    struct sim_options *o = options;
    o->has_link = true;
    return link_spec_parse(value, &o->scenario.right, reason, cap) == 0 ? NULL : reason;
}

static const char *read_back(void *options, const char *value, char *reason, size_t cap)
{
    struct sim_options *o = options;
    o->has_back = true;
    return link_spec_parse(value, &o->scenario.left, reason, cap) == 0 ? NULL : reason;
}

static const char *read_arrivals(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct sim_options *o = options;
    struct scan s = scan_of(value, strlen(value));
    if (!scan_int(&s, SCENARIO_FLOWS - 1, &o->arrivals_of) || !scan_char(&s, ':') || scan_end(&s))
        return "expects FLOW:FILE";
    o->arrivals = s.at;
    return NULL;
}

// The words of --scenario files are inserted before options are read, so --scenario cannot occur
// here.
static const char *read_scenario(void *options, const char *value, char *reason, size_t cap)
{
    (void)options, (void)value, (void)reason, (void)cap;
    return "expects --scenario FILE, unabbreviated, and not within a FILE";
}

static const char *read_group(void *options, const char *value, char *reason, size_t cap)
{
    struct scenario *sc = &((struct sim_options *)options)->scenario;
    if (sc->group_count == SCENARIO_GROUPS)
        return "at most 256 groups";
    return group_parse(value, &sc->groups[sc->group_count++], reason, cap) == 0 ? NULL : reason;
}

static const struct option_word group_words[] = {
    {"reno", "greedy TCP"},
    {"newreno", "greedy TCP with NewReno's recovery"},
    {"sack", "greedy TCP with selective acknowledgments"},
    {"web", "consecutive TCP connections, sizes and pauses Pareto-distributed"},
    {"mtp", "greedy MTP"},
    {"cbr", "packets at a constant rate, always or on and off"},
    {"datagram", "weir-send's datagram flow under a rate controller"},
    {"stream", "a session: weir-send's scheduler, a transport, weir-play's buffer and Goddard "
               "policy"},
    {NULL, NULL},
};

#define AT(member) offsetof(struct sim_options, member)
#define KEY        .name = "KEY", .operand = true, .kind = OPTION_NOTE

// clang-format off
static const struct option_row rows[] = {
    {.section = "Flows", .name = "group", .argument = "GROUP", .operand = true, .repeats = true,
     .read = read_group, .words = group_words,
     .help = "KIND[:KEY=VALUE,...]; the keys follow, with their defaults. The KINDs:"},

    {.section = "Keys of all kinds", KEY, .argument = "n=1",
     .help = "number of flows"},
    {KEY, .argument = "from=0 to=HOPS", .help = "first and last router; from=1,to=0 runs left"},
    {KEY, .argument = "rtt=T or T..T",
     .help = "round-trip time without queues; spread evenly over the flows (default: that of the hops)"},
    {KEY, .argument = "start=0s stop=T", .help = "times at which the flow starts and stops"},
    {KEY, .argument = "spread=0s", .help = "max random delay of each flow's start"},
    {KEY, .argument = "access=100mbit", .help = "rate of the access links"},
    {KEY, .argument = "loss=0%", .help = "loss on the sink's access link, each way"},
    {KEY, .argument = "overhead=0us", .help = "max random time per packet in the sending host"},
    {KEY, .argument = "local=R localq=20p",
     .help = "a drop-tail link between the last router and the sink, both ways"},
    {KEY, .argument = "size=1500B", .help = "size of packets"},

    {.section = "Keys of TCP and web", KEY, .argument = "window=10000p iw=2p",
     .help = "the receiver's window, and the sender's initial window"},
    {KEY, .argument = "minrto=1s", .help = "min retransmission timeout"},
    {KEY, .argument = "delack=100ms", .help = "delayed ACKs; 0: none"},
    {KEY, .argument = "ca=ack",
     .help = "congestion avoidance: + 1/cwnd per ACK; count: + 1 per cwnd of ACKs; packets: of "
             "acknowledged packets, as Linux; cubic: RFC 9438"},
    {KEY, .argument = "ts=0", .help = "1: timestamps, an RTT sample from each ACK"},
    {KEY, .argument = "packets=N", .help = "TCP: end after this many packets"},
    {KEY, .argument = "tcp=newreno", .help = "web: reno, newreno or sack"},
    {KEY, .argument = "bytes=50KB think=1s shape=1.5",
     .help = "web: mean object size and pause, and the shape of their distribution"},
    {KEY, .argument = "objects=1", .help = "web: objects per page, before a pause"},
    {KEY, .argument = "pause=pareto", .help = "web: distribution of the pauses; exp: exponential"},

    {.section = "Keys of mtp", KEY, .argument = "mode=strict", .help = "or fill, or resend"},
    {KEY, .argument = "newreno=0", .help = "1: NewReno, which fills one hole per round trip"},
    {KEY, .argument = "iw=2p minrto=1s ts=0", .help = "as for TCP"},
    {KEY, .argument = "full=SIZE", .help = "the window counts bytes, in packets of that size; those "
                                           "of size= are smaller (default: it counts packets)"},

    {.section = "Keys of cbr", KEY, .argument = "rate=R", .help = "rate while on"},
    {KEY, .argument = "on=T off=T", .help = "lengths of the on and off periods (default: always on)"},
    {KEY, .argument = "shape=X", .help = "on and off are means of Pareto distributions of this shape"},

    {.section = "Keys of datagram", KEY, .argument = "cc=NAME[:PARAMS]",
     .help = "such as tfrc:selfclock; write / for the comma between PARAMS"},
    {KEY, .argument = "rate=R", .help = "rate of the media (default: greedy)"},
    {KEY, .argument = "max=1gbit", .help = "max rate of the controller"},
    {KEY, .argument = "ect=1", .help = "ECN-capable"},
    {KEY, .argument = "full=SIZE", .help = "the most that a packet may have, for the controller's law "
                                           "(default: as size=)"},

    {.section = "Keys of stream, and TCP's where its transport is simulated TCP (tcp=newreno)", KEY,
     .argument = "via=NAME[:PARAMS]",
     .help = "tcp (an unlimited send buffer), tcp:sndbuf=64KB, minbuf:1/3, udp, psp, tfrc, arc, "
             "scream, mtp, mtp:paper/queue=65536 ...; / for the comma"},
    {KEY, .argument = "media=goddard length=300s fragment=1000B", .help = "media, its length, and its bytes per packet"},
    {KEY, .argument = "latency=5500ms", .help = "max wait in the scheduler (default: what weir-play "
     "requests, 500 ms more than goddard=play_buf_thresh; with level= 1s)"},
    {KEY, .argument = "queue=priority limit=4194304B",
     .help = "which waiting frames are dropped (or: deadline, fifo), and max bytes that wait"},
    {KEY, .argument = "film=T",
     .help = "the media is a film, in groups of 2 s, sent ahead; the policy auto chooses, with a buffer of T"},
    {KEY, .argument = "level=N", .help = "request this level throughout (default: the Goddard policy chooses)"},
    {KEY, .argument = "sizes=FILE",
     .help = "frame sizes: one frame's bytes per line, as ffprobe -select_streams v -show_entries "
             "packet=size -of csv=p=0 prints them"},
    {KEY, .argument = "pair=1",
     .help = "0: no packet pairs; the first media packets measure the capacity"},
    {KEY, .argument = "repair=off",
     .help = "resend, fec or auto: lost datagrams are requested and repaired, as weir-play --repair"},
    {KEY, .argument = "proxy=LINK proxyvia=minbuf:1/3 proxyrtt=10ms",
     .help = "a proxy at the sink; the viewer is behind this link (/ for the comma), transport and "
             "round-trip time; without repair="},
    {KEY, .argument = "reflect=limit target=250ms",
     .help = "the proxy's: off, marks, limit or blocking; and its longest queue; queue= and limit= are the "
             "proxy's, too"},
    {KEY, .argument = "second=LINK secondrtt=60ms share=12%",
     .help = "a second network of the viewer's (/ for the comma), and the part of the bytes that may take "
             "it"},
    {KEY, .argument = "parts=0", .help = "1: incomplete frames count as complete"},
    {KEY, .argument = "astcp=0",
     .help = "1: MTP's ends have the stream's iw, minrto, ts and delack, as a mode of its TCP"},
    {KEY, .argument = "goddard=NAME=VALUE/...",
     .help = "parameters of the Goddard policy, such as upscale_interval=30"},

    {.section = "Network: routers 0 to HOPS in a row; flows are attached by access links",
     .name = "link", .argument = "SPEC", .read = read_link,
     .help = "link of each hop from left to right, such as rate=10mbit,queue=droptail:208p; the syntax "
             "of weir-link"},
    {.name = "back", .argument = "SPEC", .read = read_back,
     .help = "link of each hop from right to left (default: as --link)"},
    {.name = "hops", .argument = "N", .kind = OPTION_INT, .at = AT(scenario.hops), .min = 1,
     .max = CHAIN_HOPS_MAX, .fallback = "1", .help = "number of hops: 1 (a dumbbell) to 64 (a parking lot)"},

    {.section = "Run", .name = "seconds", .argument = "S", .kind = OPTION_SECONDS,
     .at = AT(duration), .min = 0.001, .max = SIM_OPTIONS_SECONDS, .fallback = "100",
     .help = "length of the run in virtual time"},
    {.name = "since", .argument = "S", .kind = OPTION_SECONDS, .at = AT(since),
     .max = SIM_OPTIONS_SECONDS, .fallback = "0", .help = "count stats from this time on, to 0.1 s"},
    {.name = "till-ended", .kind = OPTION_SWITCH, .at = AT(till_ended),
     .help = "end when the last stream has ended"},
    {.name = "seed", .argument = "N", .kind = OPTION_SEED, .at = AT(scenario.seed),
     .fallback = "1", .help = "seed of all random numbers"},
    {.name = "scenario", .argument = "FILE", .read = read_scenario,
     .help = "read words of this command line from a file; # begins a comment"},

    {.section = "Output: a JSON line per flow, group, direction of a hop, and run", .name = "series",
     .argument = "FILE", .kind = OPTION_FILE, .at = AT(series),
     .help = "write a CSV with totals and state of each flow"},
    {.name = "step", .argument = "S", .kind = OPTION_SECONDS, .at = AT(step), .min = 0.1,
     .max = SIM_OPTIONS_SECONDS, .fallback = "1", .help = "interval of --series"},
    {.name = "streams", .argument = "PREFIX", .kind = OPTION_FILE, .at = AT(streams),
     .help = "write for streams PREFIX-FLOW.json, the report that weir-play writes, and PREFIX.csv "
             "with one event per line"},
    {.name = "arrivals", .argument = "FLOW:FILE", .read = read_arrivals,
     .help = "write a CSV of the packets that reached this flow's sink"},
    {.name = "quiet", .kind = OPTION_SWITCH, .at = AT(quiet), .help = "print no lines of single flows"},
    OPTION_ROWS_HELP,
};
// clang-format on

const struct option_table sim_option_table = {
    .program = "weir-sim",
    .usage = "[OPTION]... --link SPEC GROUP...",
    .brief = "stream over simulated networks, on a virtual clock",
    .about = "Flows over a simulated network, on a virtual clock: the same command line gives the "
             "same results.",
    .rest = "weir-sim abr views prepared films over traces of a path; it has its own --help.\n\n"
            "Exit status:\n"
            "    0  done\n"
            "    1  failed\n"
            "    2  wrong usage\n",
    .rows = rows,
};

// Returns NULL, or a text on a missing option or on options that conflict.
static const char *check(const struct sim_options *o)
{
    return !o->has_link                   ? "--link SPEC is required"
           : o->scenario.group_count == 0 ? "a GROUP of flows is required"
           : o->since > o->duration       ? "--since is after the end of the run"
                                          : NULL;
}

enum options_result sim_options_parse(int argc, char **argv, void *options, FILE *out, char *error,
                                      size_t cap)
{
    struct sim_options *o = options;
    *o = (struct sim_options){.duration = 100 * USEC_PER_SEC, .step = USEC_PER_SEC};
    o->scenario.hops = 1;
    o->scenario.seed = 1;
    char *words[SIM_OPTIONS_WORDS + 1];
    int count = sim_options_expand(o, argc, argv, words, error, cap);
    char *file; // unused: there is no --config
    enum options_result result = OPTIONS_BAD;
    if (count >= 0)
        result = command_line_read(&sim_option_table, count, words, o, &file, out, error, cap);
    if (result != OPTIONS_RUN)
        return result;
    const char *wrong = check(o);
    if (wrong) {
        snprintf(error, cap, "%s", wrong);
        return OPTIONS_BAD;
    }
    if (!o->has_back)
        o->scenario.left = o->scenario.right;
    // Stats are sampled, so `since` is rounded up to a sample.
    o->since = (o->since + METER_STEP - 1) / METER_STEP * METER_STEP;
    return sim_options_load(o, error, cap) == 0 ? OPTIONS_RUN : OPTIONS_BAD;
}

void sim_options_destroy(void *options)
{
    struct sim_options *o = options;
    free(o->file);
    free(o->traces[0]);
    free(o->traces[1]);
    for (int i = 0; i < o->scenario.group_count; i++)
        frame_sizes_destroy(&o->scenario.groups[i].sizes);
}
