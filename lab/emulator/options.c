// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/emulator/options.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stddef.h>
#include <string.h>

#include "common/base/scan.h"

enum { IPV6_MIN_MTU = 1280, LONGEST_SEC = 30 * 24 * 3600 };

static bool parse_prefix(const char *text, struct ip_prefix *out)
{
    struct scan bits = scan_of(text, strlen(text));
    struct scan address = scan_until(&bits, '/');
    char copy[INET6_ADDRSTRLEN];
    if (scan_left(&address) >= sizeof(copy))
        return false;
    snprintf(copy, sizeof(copy), "%.*s", (int)scan_left(&address), address.at);
    out->family = strchr(copy, ':') ? AF_INET6 : AF_INET;
    int64_t value;
    if (inet_pton(out->family, copy, out->address) != 1 ||
        !scan_int(&bits, out->family == AF_INET6 ? 128 : 32, &value) || !scan_end(&bits))
        return false;
    out->bits = (uint8_t)value;
    return value > 0;
}

static const char *add_address(struct link_end *end, const char *value)
{
    if (end->address_count == LINK_ADDRESSES_MAX)
        return "at most 8 addresses";
    return parse_prefix(value, &end->addresses[end->address_count++])
               ? NULL
               : "expects ADDR/BITS, such as 10.0.0.1/30 or fd00::1/64";
}

static const char *read_addr_a(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    return add_address(&((struct link_options *)options)->ends[0], value);
}

static const char *read_addr_b(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    return add_address(&((struct link_options *)options)->ends[1], value);
}

static const char *read_device(void *options, const char *value, char *reason, size_t cap)
{
    (void)options, (void)reason, (void)cap;
    return value[0] && strlen(value) < IFNAMSIZ && !strpbrk(value, "/%: \t")
               ? NULL
               : "expects a device's name of 1 to 15 characters";
}

static const char *read_spec(struct link_options *o, int side, const char *value, char *reason,
                             size_t cap)
{
    o->has_spec[side] = link_spec_parse(value, &o->specs[side], reason, cap) == 0;
    return o->has_spec[side] ? NULL : reason;
}

static const char *read_a_to_b(void *options, const char *value, char *reason, size_t cap)
{
    return read_spec(options, 0, value, reason, cap);
}

static const char *read_b_to_a(void *options, const char *value, char *reason, size_t cap)
{
    return read_spec(options, 1, value, reason, cap);
}

static const char *read_flow(void *options, const char *value, char *reason, size_t cap)
{
    struct link_options *o = options;
    int port;
    if (o->flow_count == LINK_FLOW_PORTS_MAX)
        return "at most 7 ports";
    const char *wrong = option_int_read(value, 1, UINT16_MAX, &port, reason, cap);
    if (!wrong)
        o->flow_ports[o->flow_count++] = (uint16_t)port;
    return wrong;
}

#define AT(member) offsetof(struct link_options, member)
#define NOTE       .name = "SPEC", .operand = true, .kind = OPTION_NOTE

// clang-format off
static const struct option_row rows[] = {
    {.section = "Ends", .name = "ns-a", .argument = "NS", .kind = OPTION_TEXT,
     .at = AT(ends[0].netns),
     .help = "network namespace of A: a name under /run/netns, a path, self, or pid:N"},
    {.name = "ns-b", .argument = "NS", .kind = OPTION_TEXT, .at = AT(ends[1].netns),
     .help = "network namespace of B"},
    {.name = "addr-a", .argument = "ADDR/BITS", .read = read_addr_a, .repeats = true,
     .help = "address of A, IPv4 or IPv6, such as 10.0.0.1/30; may be repeated"},
    {.name = "addr-b", .argument = "ADDR/BITS", .read = read_addr_b, .repeats = true,
     .help = "address of B; may be repeated"},
    {.name = "dev-a", .argument = "NAME", .kind = OPTION_TEXT, .at = AT(ends[0].device),
     .read = read_device, .fallback = "weir-a", .help = "name of A's device"},
    {.name = "dev-b", .argument = "NAME", .kind = OPTION_TEXT, .at = AT(ends[1].device),
     .read = read_device, .fallback = "weir-b", .help = "name of B's device"},
    {.name = "mtu", .argument = "N", .kind = OPTION_INT, .at = AT(mtu), .min = 576,
     .max = 9000, .fallback = "1500", .help = "MTU of both devices, 576 to 9000"},

    {.section = "Link", .name = "a-to-b", .argument = "SPEC", .read = read_a_to_b,
     .help = "link from A to B, such as rate=30mbit,delay=50ms,queue=droptail:375000B,loss=0.5%; \"\" "
             "is a perfect link"},
    {.name = "b-to-a", .argument = "SPEC", .read = read_b_to_a, .help = "link from B to A"},
    {.name = "changes", .argument = "FILE", .kind = OPTION_FILE, .at = AT(changes),
     .help = "changes during the run, lines \"SECONDS a-to-b|b-to-a|both CHANGE\", such "
             "as \"20 both rate=15mbit\"; a CHANGE has rate, delay, jitter, loss or reorder"},
    {.name = "seed", .argument = "N", .kind = OPTION_SEED, .at = AT(seed), .fallback = "1",
     .help = "seed of all random numbers"},
    {.name = "duration", .argument = "SECONDS", .kind = OPTION_SECONDS, .at = AT(duration),
     .min = 0.001, .max = LONGEST_SEC,
     .help = "end after this time, at most 30 days (default: at SIGINT or SIGTERM)"},

    {.section = "SPEC, a link as text: keys with commas between them", NOTE,
     .argument = "rate=R[:R@T...][:loop=T]",
     .help = "bit, kbit, mbit or gbit; further rates at times since the start, repeated "
             "every loop"},
    {NOTE, .argument = "trace=FILE",
     .help = "a Mahimahi trace in place of a rate: each line is the ms at which a packet of 1500 "
             "bytes may leave"},
    {NOTE, .argument = "overhead=N",
     .help = "bytes per packet in addition to its IP length (Ethernet: 14 or 38)"},
    {NOTE,
     .argument = "queue=KIND[:LIMIT][:KEY=VALUE...]",
     .help = "sizes as 375000B, 64KB, 250p (packets), or 100ms at the first rate; droptail:1000p "
             "by default. Each KIND with its keys and their defaults:"},
    {NOTE, .argument = "  droptail, drophead",
     .help = "1000p; ecn=SIZE: a step mark"},
    {NOTE, .argument = "  red",
     .help = "1000p; ecn, gentle, min (limit/12), max (3 min), pmax=10%, weight=0.002"},
    {NOTE, .argument = "  dred",
     .help = "requires a limit; ecn, min (limit/2), max (limit), pmin=10%, pmax=100%"},
    {NOTE, .argument = "  drd",
     .help = "1000p; ecn, min (limit/2), max (limit), pmin=10%, pmax=95%"},
    {NOTE, .argument = "  codel",
     .help = "1000p; ecn, target=5ms, interval=100ms"},
    {NOTE, .argument = "  dualpi2",
     .help = "10000p; target=15ms, interval=15ms, alpha=0.15, beta=3, k=2, step=1ms; always marks"},
    {NOTE, .argument = "loss=P%",
     .help = "or loss=ge:p=P%:r=P%[:good=P%][:bad=P%], in bursts (Gilbert-Elliott); or "
             "loss=mask:0010[*], 1: lost, *: repeat"},
    {NOTE, .argument = "delay=T  jitter=T",
     .help = "us, ms or s"},
    {NOTE, .argument = "reorder=P%:T",
     .help = "delays this share of the packets by T"},

    {.section = "Stats", .name = "stats", .argument = "FILE", .kind = OPTION_FILE,
     .at = AT(stats), .help = "write a JSON line per second, and the totals at the end, to this file"},
    {.name = "flow", .argument = "PORT", .read = read_flow, .repeats = true,
     .help = "count packets with this TCP or UDP port separately; up to 7 times"},
    {.name = "pcap", .argument = "PREFIX", .kind = OPTION_FILE, .at = AT(pcap),
     .help = "capture packets that enter and leave: PREFIX-a-in.pcap, -b-out, -b-in and -a-out"},
    {.name = "pcap-rest", .kind = OPTION_SWITCH, .at = AT(pcap_rest),
     .help = "capture no packet of a --flow, such as those of heavy traffic"},
    {.name = "snap", .argument = "N", .kind = OPTION_INT, .at = AT(snap), .min = 1,
     .max = UINT16_MAX, .fallback = "65535", .help = "bytes kept of each packet, 1 to 65535"},
    OPTION_ROWS_HELP,
};
// clang-format on

const struct option_table link_option_table = {
    .program = "weir-link",
    .usage = "--ns-a NS --ns-b NS --addr-a ADDR/BITS --addr-b ADDR/BITS --a-to-b SPEC --b-to-a "
             "SPEC [OPTION]...",
    .brief = "join two network namespaces by an emulated link",
    .about = "An emulated link between two network namespaces: a TUN device in each, and between "
             "them the nodes that SPEC describes.",
    .rest = "\"weir-link: ready\" on stderr means that traffic may pass. weir-link requires "
            "CAP_NET_ADMIN: run "
            "as root, or inside\n"
            "unshare -Urn. If permitted, it runs with real-time priority (SCHED_FIFO, 1) "
            "and locks its memory, which makes\n"
            "times more exact. At most 100000 packets are held each way; further ones are dropped "
            "and counted as \"pool\".\n"
            "\n"
            "Exit status:\n"
            "    0  stopped by a signal, or after --duration\n"
            "    1  failed\n"
            "    2  wrong usage\n",
    .rows = rows,
};

// Returns NULL, or a text on a missing option or on options that conflict.
static const char *check(const struct link_options *o)
{
    for (int side = 0; side < 2; side++) {
        const struct link_end *end = &o->ends[side];
        if (!end->netns)
            return side ? "--ns-b is required" : "--ns-a is required";
        if (end->address_count == 0)
            return side ? "--addr-b is required" : "--addr-a is required";
        if (!o->has_spec[side])
            return side ? "--b-to-a is required" : "--a-to-b is required";
        for (int i = 0; i < end->address_count; i++)
            if (end->addresses[i].family == AF_INET6 && o->mtu < IPV6_MIN_MTU)
                return "IPv6 addresses require --mtu 1280 or more";
    }
    return NULL;
}

enum options_result link_options_parse(int argc, char **argv, void *options, FILE *out, char *error,
                                       size_t cap)
{
    struct link_options *o = options;
    *o = (struct link_options){.mtu = 1500, .snap = 65535, .seed = 1, .duration = USEC_NEVER};
    o->ends[0].device = "weir-a";
    o->ends[1].device = "weir-b";
    char *file; // unused: there is no --config
    enum options_result result =
        command_line_read(&link_option_table, argc, argv, o, &file, out, error, cap);
    const char *wrong = result == OPTIONS_RUN ? check(o) : NULL;
    if (wrong)
        snprintf(error, cap, "%s", wrong);
    return wrong ? OPTIONS_BAD : result;
}
