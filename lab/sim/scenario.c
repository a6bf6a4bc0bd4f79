// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/scenario.h"

#include <math.h>

#include "common/base/err.h"
#include "common/congestion/controller.h"
#include "lab/link/link_spec_read.h"

enum {
    OF_TCP = 1 << GROUP_TCP,
    OF_WEB = 1 << GROUP_WEB,
    OF_CBR = 1 << GROUP_CBR,
    OF_DATAGRAM = 1 << GROUP_DATAGRAM,
    OF_MTP = 1 << GROUP_MTP,
    OF_STREAM = 1 << GROUP_STREAM,
    OF_ALL = OF_TCP | OF_WEB | OF_CBR | OF_DATAGRAM | OF_MTP | OF_STREAM,
    OF_TCPS = OF_TCP | OF_WEB | OF_STREAM,
};

static const struct spec_unit no_units[] = {{"", 1}, {NULL, 0}};
static const struct spec_unit bytes[] = {{"B", 1}, {"KB", 1e3}, {"MB", 1e6}, {NULL, 0}};
static const struct spec_unit packets[] = {{"p", 1}, {NULL, 0}};
static const struct spec_unit rates[] = {
    {"bit", 1}, {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}, {NULL, 0}};
static const struct spec_unit times[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}, {NULL, 0}};

static const struct spec_quantity count = {no_units, 1, SCENARIO_FLOWS, false,
                                           "a number from 1 to 10000"};
static const struct spec_quantity router = {no_units, 0, CHAIN_HOPS_MAX, false,
                                            "a router from 0 to 64"};
static const struct spec_quantity packet_bytes = {bytes, 40, 9000, false,
                                                  "a size from 40B to 9000B"};
static const struct spec_quantity window = {packets, 1, TCP_WINDOW_MAX, false,
                                            "a window from 1p to 10000p"};
static const struct spec_quantity object = {bytes, 1, 1e9, false, "a size from 1B to 1000MB"};
static const struct spec_quantity total = {no_units, 1, 1e9, false,
                                           "a number of packets from 1 to 1000000000"};
static const struct spec_quantity shape = {no_units, 1.01, 100, false, "a number from 1.01 to 100"};
static const struct spec_quantity flag = {no_units, 0, 1, false, "0 or 1"};
static const struct spec_quantity access_rate = {rates, 1e6, 1e11, false,
                                                 "a rate from 1mbit to 100gbit"};
static const struct spec_quantity instant = {times, 0, 1e12, false, "a time from 0 to 1000000s"};
static const struct spec_quantity line_queue = {packets, 1, 100000, false,
                                                "a queue from 1p to 100000p"};
static const struct spec_quantity patience = {times, 20e3, 60e6, false, "a time from 20ms to 60s"};
static const struct spec_quantity film_buffer = {times, 4e6, 120e6, false,
                                                 "a time from 4s to 120s"};
static const struct spec_quantity limit = {bytes, 1, 1e9, false, "a size from 1B to 1000MB"};
static const struct spec_quantity fixed_level = {no_units, 0, LADDER_MAX_LEVELS - 1, false,
                                                 "a level from 0 to 31"};
static const struct spec_quantity fragment = {bytes, FLOW_STREAM_LEAST, FLOW_STREAM_MOST, false,
                                              "a size from 100B to 1200B"};
static const struct spec_quantity page = {no_units, 1, 1000, false, "a number from 1 to 1000"};
static const struct spec_quantity rto = {times, 0, 60e6, false, "a time from 0 to 60s"};

enum value_type { VALUE_INT, VALUE_DOUBLE, VALUE_TIME, VALUE_PERCENT };

static const struct key {
    const char *name;
    unsigned kinds;
    enum value_type type;
    const struct spec_quantity *quantity;
    size_t at; // offset in struct group
} keys[] = {
    {"n", OF_ALL, VALUE_INT, &count, offsetof(struct group, n)},
    {"from", OF_ALL, VALUE_INT, &router, offsetof(struct group, from)},
    {"to", OF_ALL, VALUE_INT, &router, offsetof(struct group, to)},
    {"start", OF_ALL, VALUE_TIME, &instant, offsetof(struct group, start)},
    {"spread", OF_ALL, VALUE_TIME, &spec_time, offsetof(struct group, spread)},
    {"stop", OF_ALL, VALUE_TIME, &instant, offsetof(struct group, stop)},
    {"access", OF_ALL, VALUE_INT, &access_rate, offsetof(struct group, access_bps)},
    {"loss", OF_ALL, VALUE_PERCENT, &spec_percent, offsetof(struct group, loss)},
    {"overhead", OF_ALL, VALUE_TIME, &spec_time, offsetof(struct group, overhead)},
    {"local", OF_ALL, VALUE_INT, &spec_rate, offsetof(struct group, local_bps)},
    {"localq", OF_ALL, VALUE_INT, &line_queue, offsetof(struct group, local_queue)},
    {"size", OF_ALL, VALUE_INT, &packet_bytes, offsetof(struct group, packet_bytes)},
    {"full", OF_DATAGRAM | OF_MTP, VALUE_INT, &packet_bytes, offsetof(struct group, full_bytes)},
    {"window", OF_TCPS, VALUE_INT, &window, offsetof(struct group, window)},
    {"iw", OF_TCPS | OF_MTP, VALUE_INT, &window, offsetof(struct group, initial_window)},
    {"minrto", OF_TCPS | OF_MTP, VALUE_TIME, &rto, offsetof(struct group, min_rto)},
    {"delack", OF_TCPS, VALUE_TIME, &rto, offsetof(struct group, delayed_ack)},
    {"ts", OF_TCPS | OF_MTP, VALUE_INT, &flag, offsetof(struct group, timestamps)},
    {"newreno", OF_MTP, VALUE_INT, &flag, offsetof(struct group, newreno)},
    {"packets", OF_TCP, VALUE_INT, &total, offsetof(struct group, packets)},
    {"bytes", OF_WEB, VALUE_INT, &object, offsetof(struct group, object_bytes)},
    {"think", OF_WEB, VALUE_TIME, &spec_time_positive, offsetof(struct group, think)},
    {"objects", OF_WEB, VALUE_INT, &page, offsetof(struct group, objects)},
    {"shape", OF_WEB | OF_CBR, VALUE_DOUBLE, &shape, offsetof(struct group, shape)},
    {"rate", OF_CBR | OF_DATAGRAM, VALUE_INT, &spec_rate, offsetof(struct group, bps)},
    {"on", OF_CBR, VALUE_TIME, &spec_time_positive, offsetof(struct group, on)},
    {"off", OF_CBR, VALUE_TIME, &spec_time_positive, offsetof(struct group, off)},
    {"max", OF_DATAGRAM, VALUE_INT, &spec_rate, offsetof(struct group, max_bps)},
    {"ect", OF_DATAGRAM, VALUE_INT, &flag, offsetof(struct group, ect)},
    {"pair", OF_STREAM, VALUE_INT, &flag, offsetof(struct group, pairs)},
    {"parts", OF_STREAM, VALUE_INT, &flag, offsetof(struct group, in_part)},
    {"astcp", OF_STREAM, VALUE_INT, &flag, offsetof(struct group, as_tcp)},
    {"length", OF_STREAM, VALUE_TIME, &instant, offsetof(struct group, length)},
    {"film", OF_STREAM, VALUE_TIME, &film_buffer, offsetof(struct group, film)},
    {"latency", OF_STREAM, VALUE_TIME, &patience, offsetof(struct group, latency)},
    {"limit", OF_STREAM, VALUE_INT, &limit, offsetof(struct group, limit_bytes)},
    {"level", OF_STREAM, VALUE_INT, &fixed_level, offsetof(struct group, level)},
    {"proxyrtt", OF_STREAM, VALUE_TIME, &spec_time, offsetof(struct group, proxy_rtt)},
    {"target", OF_STREAM, VALUE_TIME, &patience, offsetof(struct group, target)},
    {"secondrtt", OF_STREAM, VALUE_TIME, &spec_time, offsetof(struct group, second_rtt)},
    {"share", OF_STREAM, VALUE_PERCENT, &spec_percent, offsetof(struct group, share)},
    {"fragment", OF_STREAM, VALUE_INT, &fragment, offsetof(struct group, fragment_bytes)},
};
enum {
    KEYS = sizeof(keys) / sizeof(keys[0]),
    SEEN_RTT = KEYS,
    SEEN_TCP,
    SEEN_CC,
    SEEN_CA,
    SEEN_MODE,
    SEEN_PAUSE,
    SEEN_VIA,
    SEEN_MEDIA,
    SEEN_GODDARD,
    SEEN_SIZES,
    SEEN_REPAIR,
    SEEN_PROXY,
    SEEN_PROXY_VIA,
    SEEN_REFLECT,
    SEEN_QUEUE,
    SEEN_SECOND
};
_Static_assert(SEEN_SECOND < 64, "the keys seen are recorded in 64 bits");

static const struct {
    const char *name;
    enum group_kind kind;
    enum tcp_variant variant;
} kinds[] = {
    {"reno", GROUP_TCP, TCP_RENO}, {"newreno", GROUP_TCP, TCP_NEWRENO},
    {"sack", GROUP_TCP, TCP_SACK}, {"web", GROUP_WEB, TCP_NEWRENO},
    {"cbr", GROUP_CBR, TCP_RENO},  {"datagram", GROUP_DATAGRAM, TCP_RENO},
    {"mtp", GROUP_MTP, TCP_RENO},  {"stream", GROUP_STREAM, TCP_NEWRENO},
};

static int read_value(struct spec_reader *r, struct scan value, const struct key *k,
                      struct group *g)
{
    double number;
    int err = spec_read(r, value, k->quantity, &number);
    if (err)
        return err;
    char *at = (char *)g + k->at;
    if (k->type == VALUE_DOUBLE || k->type == VALUE_PERCENT) {
        number /= k->type == VALUE_PERCENT ? 100 : 1;
        memcpy(at, &number, sizeof(number));
        return 0;
    }
    int64_t whole = llround(number);
    if (k->type == VALUE_INT && (double)whole != number)
        return spec_fail(r, ERR_MALFORMED, "'%s' is not a whole number", spec_excerpt(value).text);
    memcpy(at, &whole, sizeof(whole));
    return 0;
}

// Reads T or T..T.
static int read_rtt(struct spec_reader *r, struct scan value, struct group *g)
{
    struct scan first = value;
    for (const char *at = value.at; at + 1 < value.end; at++) {
        if (at[0] == '.' && at[1] == '.') {
            first.end = at;
            value.at = at + 2;
            break;
        }
    }
    int err = spec_read_time(r, first, &spec_time, &g->rtt_min);
    if (!err)
        err = spec_read_time(r, value, &spec_time, &g->rtt_max);
    if (!err && g->rtt_max < g->rtt_min)
        err = spec_fail(r, ERR_RANGE, "the second time is below the first");
    return err;
}

static int read_variant(struct spec_reader *r, struct scan value, struct group *g)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && kinds[i].kind == GROUP_TCP; i++) {
        if (scan_is(value, kinds[i].name)) {
            g->variant = kinds[i].variant;
            return 0;
        }
    }
    return spec_fail(r, ERR_MALFORMED, "'%s' is not reno, newreno or sack",
                     spec_excerpt(value).text);
}

// Copies a value, in which / represents a comma, as a comma ends a key's value.
static int read_text(struct spec_reader *r, struct scan value, char *out, size_t cap)
{
    size_t len = scan_left(&value);
    if (len >= cap)
        return spec_fail(r, ERR_RANGE, "at most %zu characters", cap - 1);
    memcpy(out, value.at, len);
    out[len] = '\0';
    for (char *c = out; *c; c++)
        *c = *c == '/' ? ',' : *c;
    return 0;
}

static int read_via(struct spec_reader *r, struct scan value, char out[STREAM_MAX_VIA])
{
    int err = read_text(r, value, out, STREAM_MAX_VIA);
    if (err)
        return err;
    err = sim_transport_check(out);
    if (err)
        return spec_fail(r, err, "'%s' is not a transport of streams: %s", spec_excerpt(value).text,
                         err_text(err));
    return 0;
}

static int read_repair(struct spec_reader *r, struct scan value, struct group *g)
{
    char text[8];
    int err = read_text(r, value, text, sizeof(text));
    if (!err && repair_mode_parse(text, &g->repair))
        return 0;
    return spec_fail(r, ERR_MALFORMED, "'%s' is not off, resend, fec or auto",
                     spec_excerpt(value).text);
}

static int read_link(struct spec_reader *r, struct scan value, bool *has, struct link_spec *out)
{
    char text[LINK_SPEC_TEXT_MAX];
    char why[256];
    int err = read_text(r, value, text, sizeof(text));
    if (err)
        return err;
    *has = true;
    err = link_spec_parse(text, out, why, sizeof(why));
    if (!err && out->trace[0])
        return spec_fail(r, ERR_RANGE, "this link has no trace");
    return err ? spec_fail(r, err, "%s", why) : 0;
}

static int read_reflect(struct spec_reader *r, struct scan value, struct group *g)
{
    static const char *const words[] = {[REFLECT_OFF] = "off",
                                        [REFLECT_MARKS] = "marks",
                                        [REFLECT_LIMIT] = "limit",
                                        [REFLECT_BLOCKING] = "blocking"};
    for (int i = 0; i < (int)(sizeof(words) / sizeof(*words)); i++) {
        if (scan_is(value, words[i])) {
            g->reflect = (enum reflect_mode)i;
            return 0;
        }
    }
    return spec_fail(r, ERR_MALFORMED, "'%s' is not off, marks, limit or blocking",
                     spec_excerpt(value).text);
}

static int read_queue(struct spec_reader *r, struct scan value, struct group *g)
{
    for (int i = 0; i < SCHEDULER_MODES; i++) {
        if (scan_is(value, scheduler_mode_name((enum scheduler_mode)i))) {
            g->queue = (enum scheduler_mode)i;
            return 0;
        }
    }
    return spec_fail(r, ERR_MALFORMED, "'%s' is not priority, deadline or fifo",
                     spec_excerpt(value).text);
}

static int read_media(struct spec_reader *r, struct scan value, struct group *g)
{
    char text[64];
    int err = read_text(r, value, text, sizeof(text));
    if (err)
        return err;
    err = synthetic_parse(text, &g->media);
    if (err)
        return spec_fail(r, err, "'%s' is not synthetic media: %s", spec_excerpt(value).text,
                         err_text(err));
    return 0;
}

static int read_path(struct spec_reader *r, struct scan value, struct group *g)
{
    size_t len = scan_left(&value);
    if (len == 0 || len >= sizeof(g->sizes_path))
        return spec_fail(r, ERR_RANGE, "a path of 1 to %zu characters", sizeof(g->sizes_path) - 1);
    memcpy(g->sizes_path, value.at, len);
    g->sizes_path[len] = '\0';
    return 0;
}

static int read_goddard(struct spec_reader *r, struct scan value, struct group *g)
{
    char text[512];
    char why[GODDARD_PARAMS_ERROR];
    int err = read_text(r, value, text, sizeof(text));
    if (err)
        return err;
    err = goddard_params_read(text, &g->goddard, why, sizeof(why));
    return err ? spec_fail(r, err, "%s", why) : 0;
}

static int read_cc(struct spec_reader *r, struct scan value, struct group *g)
{
    int err = read_text(r, value, g->cc, sizeof(g->cc));
    if (err)
        return err;
    err = controller_check(g->cc);
    if (err)
        return spec_fail(r, err, "'%s' is not a rate controller: %s", spec_excerpt(value).text,
                         err_text(err));
    return 0;
}

static int read_growth(struct spec_reader *r, struct scan value, struct group *g)
{
    static const char *const words[] = {[TCP_PER_ACK] = "ack",
                                        [TCP_COUNT_ACKS] = "count",
                                        [TCP_COUNT_PACKETS] = "packets",
                                        [TCP_CUBIC] = "cubic"};
    for (int i = 0; i <= TCP_CUBIC; i++) {
        if (scan_is(value, words[i])) {
            g->growth = (enum tcp_growth)i;
            return 0;
        }
    }
    return spec_fail(r, ERR_MALFORMED, "'%s' is not ack, count, packets or cubic",
                     spec_excerpt(value).text);
}

static int read_mode(struct spec_reader *r, struct scan value, struct group *g)
{
    static const char *const words[] = {"strict", "fill", "resend"};
    for (int i = 0; i < 3; i++) {
        if (scan_is(value, words[i])) {
            g->mode = (enum mtp_mode)i;
            return 0;
        }
    }
    return spec_fail(r, ERR_MALFORMED, "'%s' is not strict, fill or resend",
                     spec_excerpt(value).text);
}

static int read_pause(struct spec_reader *r, struct scan value, struct group *g)
{
    g->exponential_think = scan_is(value, "exp");
    if (g->exponential_think || scan_is(value, "pareto"))
        return 0;
    return spec_fail(r, ERR_MALFORMED, "'%s' is not pareto or exp", spec_excerpt(value).text);
}

// Returns the index of the key if its kind has it, or -1.
static int find_key(struct scan name, const struct group *g)
{
    for (int i = 0; i < KEYS; i++) {
        if (scan_is(name, keys[i].name) && keys[i].kinds & (1u << g->kind))
            return i;
    }
    if (scan_is(name, "rtt"))
        return SEEN_RTT;
    if (g->kind == GROUP_STREAM) {
        static const char *const names[] = {"via",   "media",    "goddard", "sizes", "repair",
                                            "proxy", "proxyvia", "reflect", "queue", "second"};
        for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++)
            if (scan_is(name, names[i]))
                return SEEN_VIA + i;
    }
    if (scan_is(name, "tcp") && (g->kind == GROUP_WEB || g->kind == GROUP_STREAM))
        return SEEN_TCP;
    if (scan_is(name, "pause") && g->kind == GROUP_WEB)
        return SEEN_PAUSE;
    if (scan_is(name, "ca") && (OF_TCPS & (1u << g->kind)))
        return SEEN_CA;
    if (scan_is(name, "mode") && g->kind == GROUP_MTP)
        return SEEN_MODE;
    return scan_is(name, "cc") && g->kind == GROUP_DATAGRAM ? SEEN_CC : -1;
}

static int read_part(struct spec_reader *r, struct group *g, uint64_t *seen)
{
    struct scan value = r->part;
    struct scan name = scan_until(&value, '=');
    int key = find_key(name, g);
    if (key < 0)
        return spec_fail(r, ERR_MALFORMED, "unknown key for this KIND");
    if (*seen & (UINT64_C(1) << key))
        return spec_fail(r, ERR_MALFORMED, "is given twice");
    *seen |= UINT64_C(1) << key;
    switch (key) {
    case SEEN_RTT:
        return read_rtt(r, value, g);
    case SEEN_TCP:
        return read_variant(r, value, g);
    case SEEN_CC:
        return read_cc(r, value, g);
    case SEEN_CA:
        return read_growth(r, value, g);
    case SEEN_MODE:
        return read_mode(r, value, g);
    case SEEN_VIA:
        return read_via(r, value, g->via);
    case SEEN_PROXY_VIA:
        return read_via(r, value, g->proxy_via);
    case SEEN_PROXY:
        return read_link(r, value, &g->has_proxy, &g->proxy_link);
    case SEEN_SECOND:
        return read_link(r, value, &g->has_second, &g->second_link);
    case SEEN_REFLECT:
        return read_reflect(r, value, g);
    case SEEN_QUEUE:
        return read_queue(r, value, g);
    case SEEN_MEDIA:
        return read_media(r, value, g);
    case SEEN_REPAIR:
        return read_repair(r, value, g);
    case SEEN_GODDARD:
        return read_goddard(r, value, g);
    case SEEN_SIZES:
        return read_path(r, value, g);
    case SEEN_PAUSE:
        return read_pause(r, value, g);
    default:
        return read_value(r, value, &keys[key], g);
    }
}

static int check(struct spec_reader *r, const struct group *g)
{
    r->part.at = r->part.end;
    if (g->kind == GROUP_CBR && !g->bps)
        return spec_fail(r, ERR_MALFORMED, "cbr requires rate=");
    if (g->kind == GROUP_CBR && (g->on == 0) != (g->off == 0))
        return spec_fail(r, ERR_MALFORMED, "on= and off= require each other");
    if (g->kind == GROUP_DATAGRAM && !g->cc[0])
        return spec_fail(r, ERR_MALFORMED, "datagram requires cc=");
    if (g->kind == GROUP_STREAM && !g->via[0])
        return spec_fail(r, ERR_MALFORMED, "stream requires via=");
    if (g->kind == GROUP_STREAM && g->level >= g->media.ladder.level_count)
        return spec_fail(r, ERR_RANGE, "the media has no level %d", (int)g->level);
    if (g->film && (g->has_proxy || g->level >= 0 || g->media.ladder.cumulative))
        return spec_fail(r, ERR_MALFORMED,
                         "film= conflicts with proxy=, level= and media in layers");
    if (g->has_proxy && g->repair != REPAIR_MODE_OFF)
        return spec_fail(r, ERR_MALFORMED, "proxy= conflicts with repair=");
    if (g->has_proxy && g->proxy_rtt < 2 * g->proxy_link.delay)
        return spec_fail(r, ERR_RANGE,
                         "proxyrtt= is below the delay of the proxy's link, both ways");
    if (g->has_second && (g->has_proxy || !sim_transport_reports(g->via)))
        return spec_fail(r, ERR_MALFORMED,
                         "second= requires a transport of datagrams, and conflicts with proxy=");
    if (g->has_second && g->second_rtt < 2 * g->second_link.delay)
        return spec_fail(r, ERR_RANGE,
                         "secondrtt= is below the delay of the second link, both ways");
    if (g->kind == GROUP_DATAGRAM && g->packet_bytes <= FLOW_UDP_HEADERS + 12)
        return spec_fail(r, ERR_RANGE, "datagrams require size= above 40B");
    if (g->kind == GROUP_MTP && g->full_bytes && g->packet_bytes < 100)
        return spec_fail(r, ERR_RANGE, "full= requires size= of 100B or more");
    if (g->full_bytes && g->full_bytes < g->packet_bytes)
        return spec_fail(r, ERR_RANGE, "full= is below size=");
    if (g->from == g->to)
        return spec_fail(r, ERR_RANGE, "from= and to= are the same router");
    if (g->stop <= g->start)
        return spec_fail(r, ERR_RANGE, "stop= is not after start=");
    return 0;
}

static int read_kind(struct spec_reader *r, struct scan name, struct group *g)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!scan_is(name, kinds[i].name))
            continue;
        g->kind = kinds[i].kind;
        g->variant = kinds[i].variant;
        g->shape = g->kind == GROUP_WEB ? 1.5 : 0;
        return 0;
    }
    return spec_fail(r, ERR_MALFORMED,
                     "'%s' is not reno, newreno, sack, web, mtp, cbr, datagram or stream",
                     spec_excerpt(name).text);
}

// What weir-play requests with this policy; without one, the server's default.
static usec_t default_latency(const struct group *g)
{
    usec_t buffer = (usec_t)llround(g->goddard.play_buf_thresh * 1e6);
    return g->level < 0 ? goddard_params_sender_wait(buffer) : USEC_PER_SEC;
}

int group_parse(const char *text, struct group *g, char *error, size_t error_cap)
{
    *g = (struct group){.text = text,
                        .n = 1,
                        .to = -1,
                        .rtt_min = -1,
                        .rtt_max = -1,
                        .stop = USEC_NEVER,
                        .access_bps = 100000000,
                        .packet_bytes = 1500,
                        .window = TCP_WINDOW_MAX,
                        .initial_window = 2,
                        .packets = INT64_MAX,
                        .min_rto = USEC_PER_SEC,
                        .delayed_ack = 100 * USEC_PER_MSEC,
                        .local_queue = 20,
                        .object_bytes = 50000,
                        .objects = 1,
                        .think = USEC_PER_SEC,
                        .max_bps = 1000000000,
                        .length = 300 * USEC_PER_SEC,
                        .limit_bytes = SCHEDULER_LIMIT_BYTES,
                        .level = -1,
                        .fragment_bytes = 1000,
                        .pairs = 1,
                        .proxy_via = "minbuf:1,3",
                        .proxy_rtt = 10 * USEC_PER_MSEC,
                        .reflect = REFLECT_LIMIT,
                        .target = 250 * USEC_PER_MSEC,
                        .second_rtt = 60 * USEC_PER_MSEC,
                        .share = TWO_PATHS_SHARE};
    synthetic_goddard(&g->media);
    goddard_params_init(&g->goddard);
    struct scan list = scan_of(text, strlen(text));
    struct scan kind = scan_until(&list, ':');
    bool has_list = !scan_end(&list);
    struct spec_reader r = {.part = kind, .error = error, .error_cap = error_cap};
    int err = read_kind(&r, kind, g);
    uint64_t seen = 0;
    while (!err && has_list && spec_take(&list, ',', &r.part))
        err = read_part(&r, g, &seen);
    if (!g->latency)
        g->latency = default_latency(g);
    return err ? err : check(&r, g);
}
