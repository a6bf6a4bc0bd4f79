// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/emulator/options.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <net/if.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"

static const char help[] =
    "Usage: weir-link --ns-a NS --ns-b NS --addr-a ADDR/BITS --addr-b ADDR/BITS --a-to-b SPEC "
    "--b-to-a SPEC [OPTIONS]\n"
    "An emulated link between two network namespaces: a TUN device in each, and between them the "
    "nodes that SPEC asks for.\n"
    "\n"
    "ENDS\n"
    "  --ns-a, --ns-b NS       a name under /run/netns, a path, self, or pid:N\n"
    "  --addr-a, --addr-b ADDR/BITS  IPv4 or IPv6, such as 10.0.0.1/30; repeat it for more\n"
    "  --dev-a, --dev-b NAME   the devices (default weir-a, weir-b)\n"
    "  --mtu N                 576 to 9000 (default 1500)\n"
    "LINK\n"
    "  --a-to-b, --b-to-a SPEC such as rate=30mbit,delay=50ms,queue=droptail:375000B,loss=0.5%;\n"
    "                          \"\" is a perfect link\n"
    "  --changes FILE          lines \"SECONDS a-to-b|b-to-a|both CHANGE\", such as\n"
    "                          \"20 both rate=15mbit\"\n"
    "  --seed N                of all that is random (default 1)\n"
    "  --duration S            end after S seconds (default: at SIGINT or SIGTERM)\n"
    "FIGURES\n"
    "  --stats FILE            a JSON line a second, and the totals at the end\n"
    "  --flow PORT             count packets with this TCP or UDP port on their own; up to 7 "
    "times\n"
    "  --pcap PREFIX           PREFIX-a-in.pcap, -b-out, -b-in, -a-out: what entered and left\n"
    "  --snap N                bytes kept of each packet (default 65535)\n"
    "  --version, -h, --help\n"
    "\n"
    "\"weir-link: ready\" on stderr says that traffic may pass. It needs CAP_NET_ADMIN: run as "
    "root, or inside\n"
    "unshare -Urn. Where it is allowed to, it keeps to real-time priority (SCHED_FIFO, 1) and "
    "locks its memory: times\n"
    "are more exact. At most 100000 packets are held each way; further ones are dropped and "
    "counted as \"pool\".\n"
    "Exit codes: 0 stopped by a signal or after --duration, 1 failed, 2 wrong usage.\n";

// Options of both ends or directions differ in the lowest bit.
enum {
    OPT_NS = 256,
    OPT_ADDR = 258,
    OPT_DEV = 260,
    OPT_SPEC = 262,
    OPT_MTU = 264,
    OPT_CHANGES,
    OPT_STATS,
    OPT_PCAP,
    OPT_SNAP,
    OPT_FLOW,
    OPT_SEED,
    OPT_DURATION,
    OPT_VERSION
};

static const struct option long_options[] = {
    {"ns-a", required_argument, NULL, OPT_NS},
    {"ns-b", required_argument, NULL, OPT_NS + 1},
    {"addr-a", required_argument, NULL, OPT_ADDR},
    {"addr-b", required_argument, NULL, OPT_ADDR + 1},
    {"dev-a", required_argument, NULL, OPT_DEV},
    {"dev-b", required_argument, NULL, OPT_DEV + 1},
    {"a-to-b", required_argument, NULL, OPT_SPEC},
    {"b-to-a", required_argument, NULL, OPT_SPEC + 1},
    {"mtu", required_argument, NULL, OPT_MTU},
    {"changes", required_argument, NULL, OPT_CHANGES},
    {"stats", required_argument, NULL, OPT_STATS},
    {"pcap", required_argument, NULL, OPT_PCAP},
    {"snap", required_argument, NULL, OPT_SNAP},
    {"flow", required_argument, NULL, OPT_FLOW},
    {"seed", required_argument, NULL, OPT_SEED},
    {"duration", required_argument, NULL, OPT_DURATION},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool parse_number(const char *text, int64_t min, int64_t max, int64_t *out)
{
    struct scan s = scan_of(text, strlen(text));
    return scan_int(&s, max, out) && scan_end(&s) && *out >= min;
}

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

static const char *apply_end(struct link_end *end, int option, const char *value)
{
    switch (option) {
    case OPT_NS:
        end->netns = value;
        return NULL;
    case OPT_DEV:
        end->device = value;
        return value[0] && strlen(value) < IFNAMSIZ && !strpbrk(value, "/%: \t")
                   ? NULL
                   : "a device's name of 1 to 15 characters";
    default:
        if (end->address_count == LINK_ADDRESSES_MAX)
            return "no more than 8 addresses";
        return parse_prefix(value, &end->addresses[end->address_count++])
                   ? NULL
                   : "ADDR/BITS, such as 10.0.0.1/30 or fd00::1/64";
    }
}

static const char *apply_number(struct link_options *o, int option, const char *value)
{
    int64_t n;
    struct scan s = scan_of(value, strlen(value));
    switch (option) {
    case OPT_MTU:
        o->mtu = parse_number(value, 576, 9000, &n) ? (uint32_t)n : 0;
        return o->mtu ? NULL : "576 to 9000";
    case OPT_SNAP:
        o->snap = parse_number(value, 1, 65535, &n) ? (uint32_t)n : 0;
        return o->snap ? NULL : "1 to 65535";
    case OPT_FLOW:
        if (o->flow_count == LINK_FLOW_PORTS_MAX)
            return "no more than 7 ports";
        if (!parse_number(value, 1, 65535, &n))
            return "a port, 1 to 65535";
        o->flow_ports[o->flow_count++] = (uint16_t)n;
        return NULL;
    case OPT_SEED:
        if (!parse_number(value, 0, INT64_MAX / 10 - 1, &n))
            return "a whole number below 9e17";
        o->seed = (uint64_t)n;
        return NULL;
    default:
        if (!scan_int(&s, 30 * 24 * 3600, &n))
            return "seconds, at most 30 days";
        o->duration = n * USEC_PER_SEC;
        if (scan_char(&s, '.'))
            o->duration += (usec_t)(scan_fraction(&s) * 1e6);
        return scan_end(&s) && o->duration > 0 ? NULL : "seconds, such as 60 or 0.5";
    }
}

// NULL, or what is allowed, which may be put into `why`.
static const char *apply(struct link_options *o, int option, const char *value, char *why,
                         size_t cap)
{
    int side = option & 1;
    switch (option) {
    case OPT_NS ... OPT_DEV + 1:
        return apply_end(&o->ends[side], option & ~1, value);
    case OPT_SPEC:
    case OPT_SPEC + 1:
        o->has_spec[side] = link_spec_parse(value, &o->specs[side], why, cap) == 0;
        return o->has_spec[side] ? NULL : why;
    case OPT_CHANGES:
        o->changes = value;
        return NULL;
    case OPT_STATS:
        o->stats = value;
        return NULL;
    case OPT_PCAP:
        o->pcap = value;
        return NULL;
    default:
        return apply_number(o, option, value);
    }
}

// NULL, or what is missing or does not go together.
static const char *check(const struct link_options *o)
{
    for (int side = 0; side < 2; side++) {
        const struct link_end *end = &o->ends[side];
        if (!end->netns)
            return side ? "--ns-b is missing" : "--ns-a is missing";
        if (end->address_count == 0)
            return side ? "--addr-b is missing" : "--addr-a is missing";
        if (!o->has_spec[side])
            return side ? "--b-to-a is missing" : "--a-to-b is missing";
        for (int i = 0; i < end->address_count; i++)
            if (end->addresses[i].family == AF_INET6 && o->mtu < 1280)
                return "IPv6 needs an --mtu of 1280 or more";
    }
    return NULL;
}

enum link_options_result link_options_parse(int argc, char **argv, struct link_options *o,
                                            FILE *out, FILE *err)
{
    *o = (struct link_options){.mtu = 1500, .snap = 65535, .seed = 1, .duration = USEC_NEVER};
    o->ends[0].device = "weir-a";
    o->ends[1].device = "weir-b";
    optind = 0; // begin anew, also for a second call
    opterr = 0;
    int option;
    int index = 0; // of the long option
    while ((option = getopt_long(argc, argv, ":h", long_options, &index)) != -1) {
        if (option == 'h' || option == OPT_VERSION) {
            fputs(option == 'h' ? help : "weir-link " WEIR_VERSION "\n", out);
            return LINK_OPTIONS_DONE;
        }
        if (option == ':' || option == '?') {
            fprintf(err, "weir-link: %s %s; --help lists the options\n", argv[optind - 1],
                    option == ':' ? "needs a value" : "is not an option");
            return LINK_OPTIONS_BAD;
        }
        char why[512];
        const char *allowed = apply(o, option, optarg, why, sizeof(why));
        if (allowed) {
            fprintf(err, "weir-link: --%s \"%s\": %s\n", long_options[index].name, optarg, allowed);
            return LINK_OPTIONS_BAD;
        }
    }
    const char *wrong = optind < argc ? "takes options only, no other words" : check(o);
    if (wrong)
        fprintf(err, "weir-link: %s; --help lists the options\n", wrong);
    return wrong ? LINK_OPTIONS_BAD : LINK_OPTIONS_RUN;
}
