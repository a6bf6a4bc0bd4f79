// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/options/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"
#include "common/net/udp_socket.h"
#include "common/program/url_argument.h"
#include "common/transport/transport_list.h"
#include "server/options/server_options.h"

#define CACHE_MIN 1000000
#define CACHE_MAX (INT64_C(1000) * 1000000000000)
#define UNSET     ((usec_t)-1)

// What applies if an option is not given.
#define CACHE_BYTES INT64_C(10000000000)
#define VALIDATE    (60 * USEC_PER_SEC)
#define PREFIX      (10 * USEC_PER_SEC)
#define SHARE       (60 * USEC_PER_SEC)
#define BLOCKING    (1. / 3)
enum { FILL_SPEED = 2 };

static const char *read_origin(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct origin_rules *rules = &((struct proxy_options *)options)->rules;
    char line[URL_ARGUMENT_MAX];
    const char *wrong, *url = url_argument_read(value, line);
    rules->has_origin = true;
    if (!url)
        return "cannot read a URL from that file";
    if (url_parse(url, &rules->origin, &wrong) != 0)
        return "expects rtsp://HOST[:PORT][/PREFIX][?key=KEY], or @FILE with that line; the path "
               "that a viewer requests is appended";
    if (*rules->origin.user)
        return "takes no user: use --origin-user, which other users of this machine do not see in "
               "a configuration file";
    return strchr(rules->origin.text, '?') ? "takes no query but ?key=KEY" : NULL;
}

static const char *read_parent(void *options, const char *value, char *reason, size_t cap)
{
    ((struct proxy_options *)options)->has_parent = true;
    return read_origin(options, value, reason, cap);
}

static const char *read_first(void *options, const char *value, char *reason, size_t cap)
{
    ((struct proxy_options *)options)->names_origin = true;
    return read_origin(options, value, reason, cap);
}

static const char *read_user(void *options, const char *value, char *reason, size_t cap)
{
    (void)options, (void)reason, (void)cap;
    size_t len = strcspn(value, ":");
    bool good = len && value[len] && len < URL_MAX_USER && strlen(value + len + 1) < URL_MAX_USER &&
                !strchr(value, '"');
    return good ? NULL : "expects USER:PASSWORD, each shorter than 128 characters and without \"";
}

static const char *read_allow(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    return origin_url_allow(&((struct proxy_options *)options)->rules, value);
}

static const char *read_backbone(void *options, const char *value, char *reason, size_t cap)
{
    struct proxy_options *o = options;
    const char *error = transport_list_read(&o->choices.backbone, value, reason, cap);
    o->choices.films = o->choices.backbone;
    return error;
}

static const char *read_fetch(void *options, const char *value, char *reason, size_t cap)
{
    struct proxy_options *o = options;
    return transport_list_read(&o->fetch, value, reason, cap);
}

static const char *read_cache_bytes(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    static const char units[] = "kMGT";
    struct proxy_options *o = options;
    struct scan s = scan_of(value, strlen(value));
    int64_t factor = 1;
    bool good = scan_int(&s, INT64_MAX / 10 - 1, &o->cache_bytes);
    for (int i = 0; units[i] && good && scan_left(&s) == 1; i++) {
        factor *= 1000;
        if (scan_char(&s, units[i]))
            break;
    }
    good = good && scan_end(&s) && o->cache_bytes <= CACHE_MAX / factor;
    o->cache_bytes *= good ? factor : 1;
    return good && o->cache_bytes >= CACHE_MIN
               ? NULL
               : "expects a number of bytes from 1000000 to 1000T, such as 500M or 20G";
}

static const char *read_fill_speed(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct proxy_options *o = options;
    struct scan s = scan_of(value, strlen(value));
    int64_t whole = 0;
    bool good = scan_int(&s, 4, &whole);
    o->fill_speed = (double)whole + (good && scan_char(&s, '.') ? scan_fraction(&s) : 0);
    good = good && scan_end(&s) && o->fill_speed >= 1 && o->fill_speed <= 4;
    return good ? NULL : "expects a number from 1 to 4";
}

static const char *read_access(void *options, const char *value, char *reason, size_t cap)
{
    struct proxy_options *o = options;
    o->has_access = true;
    return transport_list_read(&o->access, value, reason, cap);
}

static const struct option_word queue_words[] = {
    // by enum scheduler_mode
    [SCHEDULER_PRIORITY] = {"priority", "drops the highest layers first, the newest frames first, "
                                        "before frames are late"},
    [SCHEDULER_DEADLINE] = {"deadline", "drops frames that are late"},
    [SCHEDULER_FIFO] = {"fifo", "drops nothing until the queue is full"},
    [SCHEDULER_MODES] = {NULL, NULL},
};

static const struct option_word reflect_words[] = {
    // by enum reflect_mode
    [REFLECT_LIMIT] = {"limit", "asks the origin to send no more than the access carries"},
    [REFLECT_MARKS] = {"marks", "reports to the origin's congestion control what exceeds the "
                                "access, as marked packets"},
    [REFLECT_BLOCKING] = {"blocking", "reads nothing of the origin while a viewer's socket is "
                                      "full, until --access-blocking of it is free: the proxy of "
                                      "the thesis"},
    [REFLECT_OFF] = {"off", "the proxy drops what the access cannot carry"},
    {NULL, NULL},
};

static const struct option_word badput_words[] = {
    // by keeps_badput
    {"drop", "leaves out what depends on frames that the backbone lost"},
    {"forward", "forwards frames that depend on lost ones at once"},
    {NULL, NULL},
};

static const char *read_badput(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct proxy_options *o = options;
    o->choices.keeps_badput = strcmp(value, badput_words[1].word) == 0;
    return o->choices.keeps_badput || strcmp(value, badput_words[0].word) == 0
               ? NULL
               : "expects drop or forward";
}

static const char *read_blocking(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct proxy_options *o = options;
    struct scan s = scan_of(value, strlen(value));
    int64_t whole = 0;
    bool good = scan_int(&s, 1, &whole);
    o->choices.blocking = (double)whole + (good && scan_char(&s, '.') ? scan_fraction(&s) : 0);
    good = good && scan_end(&s) && o->choices.blocking >= 0.01 && o->choices.blocking <= 1;
    return good ? NULL : "expects a number from 0.01 to 1";
}

#define AT(member) offsetof(struct proxy_options, member)

// clang-format off
static const struct option_row rows[] = {
    {.section = "Origins", .name = "origin", .argument = "URL", .read = read_first,
     .hides_user = true,
     .help = "rtsp://HOST[:PORT] of the origin; rtsp://PROXY/live is then its /live; without it "
             "viewers request rtsp://PROXY/HOST[:PORT]/live of the hosts that --allow names; ?key=KEY is "
             "sent to the origin and shown to no viewer; @FILE: a file whose first line is the URL"},
    {.name = "parent", .argument = "URL", .read = read_parent, .hides_user = true,
     .help = "rtsp://HOST[:PORT] of another weir-proxy, which requests the streams in place of this "
             "one; its viewers and those of other proxies behind it share them"},
    {.name = "allow", .argument = "HOST[:PORT]", .read = read_allow, .repeats = true,
     .help = "without --origin: relay this host, as viewers write it; with it: follow redirects to "
             "this host; without a port: all its ports; repeat it for more, at most 64"},
    {.name = "origin-user", .argument = "USER:PASSWORD", .kind = OPTION_TEXT, .at = AT(user),
     .read = read_user,
     .help = "credentials for --origin; viewers never see them; belongs in a configuration file"},
    {.name = "backbone-transport", .argument = "LIST", .read = read_backbone,
     .value = transport_list_value,
     .help = "transports to request of origins, in order of preference, separated by commas; "
             "without it tfrc of live media, minbuf,tfrc of films:"},
    {.name = "outage", .argument = "SECONDS", .kind = OPTION_SECONDS, .at = AT(choices.outage),
     .min = 0, .max = 3600, .fallback = "10",
     .help = "how long viewers keep their session while their origin is away, 0 to 3600"},

    SERVER_ROWS_LISTEN(struct proxy_options, "Viewers"),
    {.name = "access-transport", .argument = "LIST", .read = read_access,
     .value = transport_list_value,
     .help = "transports that viewers get, the first that a viewer offers (default: minbuf if the "
             "viewer offers it, else the viewer's first):"},
    {.name = "queue", .argument = "HOW", .kind = OPTION_WORD,
     .at = AT(queue), .words = queue_words, .fallback = "priority",
     .help = "which frames that wait for a viewer are dropped, if it cannot take them in time:"},
    {.name = "queue-bytes", .argument = "N", .kind = OPTION_INT, .at = AT(queue_bytes), .min = 16384,
     .max = 1 << 30, .fallback = "4194304",
     .help = "maximum number of bytes that wait for a viewer, 16384 to 1073741824"},
    {.name = "badput", .argument = "HOW", .read = read_badput, .words = badput_words,
     .fallback = "drop", .help = "what a viewer could not decode:"},
    {.name = "reflect", .argument = "HOW", .kind = OPTION_WORD,
     .at = AT(choices.reflect), .words = reflect_words,
     .fallback = "limit",
     .help = "how an origin learns what a viewer's access carries:"},
    {.name = "target", .argument = "MS", .kind = OPTION_MSEC, .at = AT(choices.target), .min = 20,
     .max = 10000, .fallback = "250",
     .help = "what may wait for a viewer, 20 to 10000; what exceeds it is reflected"},
    {.name = "access-blocking", .argument = "FRACTION", .read = read_blocking, .fallback = "0.333",
     .help = "--reflect blocking: part of the socket's buffer that must be free before the origin is "
             "read again, 0.01 to 1"},
    SERVER_ROWS_VIEWERS(struct proxy_options, ""),
    {.name = "srtp", .kind = OPTION_SWITCH, .at = AT(rules.srtp),
     .help = "datagrams of viewers and origins are SRTP only, even where RTSP is not encrypted; then the keys can be read on the network: for "
             "tests"},
    SERVER_ROWS_OTHERS(struct proxy_options, "", ""),

    {.section = "Cache", .name = "cache", .argument = "DIR", .kind = OPTION_FILE, .at = AT(cache),
     .help = "store prepared films in this folder as they pass, and serve those that are complete "
             "without their origin"},
    {.name = "cache-bytes", .argument = "N", .read = read_cache_bytes, .fallback = "10G",
     .help = "maximum size of the folder; k, M, G and T are powers of 1000; the films that were "
             "not viewed for the longest time leave first"},
    {.name = "validate", .argument = "SECONDS", .kind = OPTION_SECONDS, .at = AT(validate),
     .min = 0, .max = 1e6, .fallback = "60",
     .help = "serve a stored film for this time before its origin is asked whether it changed, 0 to "
             "1000000; an origin that cannot be reached leaves the film in use"},
    {.name = "prefix", .argument = "SECONDS", .kind = OPTION_SECONDS, .at = AT(prefix), .min = 0,
     .max = 3600, .fallback = "10",
     .help = "keep the first seconds of each stored film longest, 0 to 3600; viewers begin with them "
             "at once, while the rest comes from the origin; 0: none"},
    {.name = "share", .argument = "SECONDS", .kind = OPTION_SECONDS, .at = AT(share), .min = 0,
     .max = 3600, .fallback = "60",
     .help = "a viewer that requests a film within this time of another one reads what that one has "
             "brought, 0 to 3600; 0: never"},
    {.name = "fill-speed", .argument = "X", .read = read_fill_speed, .fallback = "2",
     .help = "pace at which the rest of such films comes from the origin, as a multiple of their "
             "own, 1 to 4"},
    {.name = "prefetch", .argument = "FILE", .kind = OPTION_FILE, .at = AT(prefetch),
     .help = "store the films whose paths this file names, a line each, while no viewer needs an "
             "origin"},
    {.name = "fetch-transport", .argument = "LIST", .read = read_fetch,
     .value = transport_list_value, .fallback = "minbuf",
     .help = "transports over which what stored films lack is fetched:"},
    {.name = "fetch-rate", .argument = "BPS", .kind = OPTION_INT, .at = AT(fetch_rate), .min = 0,
     .max = 1000000000, .fallback = "0",
     .help = "rate in bit/s at which they are fetched, 0 to 1000000000; from a quarter to four "
             "times the film's own rate; 0: the film's own rate"},
    {.name = "cache-list", .kind = OPTION_SWITCH, .at = AT(cache_list),
     .help = "print what --cache has stored, and exit"},

    SERVER_ROWS_ACCESS(struct proxy_options, "users"),
    SERVER_ROWS_RESULTS(struct proxy_options),
    SERVER_ROWS_GENERAL(struct proxy_options),
};
// clang-format on

const struct option_table proxy_option_table = {
    .program = "weir-proxy",
    .usage = "[OPTION]...",
    .brief = "relay streams from a long path to viewers on a short one",
    .about =
        "Receives streams of RTSP origins over a datagram transport, a live one once for all its "
        "viewers, and sends them over the transport that suits each viewer's access.",
    .rest = "Viewers: weir-play rtsp://127.0.0.1:8554/live, or any RTSP player.\n"
            "\n"
            "Exit status:\n"
            "    0  stopped by a signal\n"
            "    1  cannot start\n"
            "    2  wrong usage\n",
    .rows = rows,
};

// Sets what was not given of the cache. Returns the option that requires --cache, if there is none;
// NULL: none does.
static const char *set_cache(struct proxy_options *o)
{
    const struct {
        const char *name;
        bool is_given;
    } needs[] = {
        {"--cache-bytes", o->cache_bytes > 0}, {"--validate", o->validate != UNSET},
        {"--prefix", o->prefix != UNSET},      {"--share", o->share != UNSET},
        {"--fill-speed", o->fill_speed > 0},   {"--prefetch", o->prefetch},
        {"--fetch-transport", o->fetch.count}, {"--fetch-rate", o->fetch_rate >= 0},
    };
    o->cache_bytes = o->cache_bytes ? o->cache_bytes : CACHE_BYTES;
    o->validate = o->validate == UNSET ? VALIDATE : o->validate;
    o->prefix = o->prefix == UNSET ? PREFIX : o->prefix;
    o->share = o->share == UNSET ? SHARE : o->share;
    o->fill_speed = o->fill_speed > 0 ? o->fill_speed : FILL_SPEED;
    if (!o->fetch.count)
        (void)transport_list_split("minbuf", &o->fetch);
    o->fetch_rate = o->fetch_rate < 0 ? 0 : o->fetch_rate;
    for (size_t i = 0; i < sizeof(needs) / sizeof(*needs) && !o->cache; i++)
        if (needs[i].is_given)
            return needs[i].name;
    return NULL;
}

// --origin may follow --origin-user, and sets the whole URL.
static void set_user(struct url *origin, const char *user)
{
    size_t len = strcspn(user, ":");
    memcpy(origin->user, user, len);
    origin->user[len] = '\0';
    snprintf(origin->password, sizeof(origin->password), "%s", user + len + 1);
}

enum options_result proxy_options_parse(int argc, char **argv, void *options, FILE *out,
                                        char *error, size_t cap)
{
    struct proxy_options *o = options;
    *o = (struct proxy_options){.log = {.filter = log_all(LOG_INFO)},
                                .queue_bytes = SCHEDULER_LIMIT_BYTES,
                                .choices = {.reflect = REFLECT_LIMIT,
                                            .target = 250 * USEC_PER_MSEC,
                                            .outage = 10 * USEC_PER_SEC},
                                .validate = UNSET,
                                .prefix = UNSET,
                                .share = UNSET,
                                .fetch_rate = -1,
                                .timeout = VIEWER_TIMEOUT_SEC,
                                .max_viewers = VIEWERS_DEFAULT};
    sockaddr_parse(SERVER_LISTEN, &o->listen);
    (void)transport_list_split("tfrc", &o->choices.backbone);
    // The viewer of a film has a buffer, which bridges what TCP repairs; of live media it has none.
    // TFRC's rate falls with the size of the packets, those of a film's audio are small, and what
    // it lacks shows as a lower level. An origin may offer TFRC alone.
    (void)transport_list_split("minbuf,tfrc", &o->choices.films);
    (void)transport_list_split("minbuf", &o->access);
    enum options_result result =
        command_line_read(&proxy_option_table, argc, argv, o, &o->file, out, error, cap);
    o->choices.rules = &o->rules;
    const char *reason = result == OPTIONS_RUN ? access_options_conflict(&o->who) : NULL;
    if (reason) {
        (void)err_say(error, cap, 0, "%s", reason);
        return OPTIONS_BAD;
    }
    if (result == OPTIONS_RUN && (o->who.invite || o->who.user))
        return result;
    if (result == OPTIONS_RUN && o->has_parent && o->names_origin) {
        (void)err_say(error, cap, 0, "--parent conflicts with --origin");
        return OPTIONS_BAD;
    }
    if (result == OPTIONS_RUN && !o->tls_cert != !o->tls_key) {
        (void)err_say(error, cap, 0, "--tls-cert requires --tls-key, and the other way round");
        return OPTIONS_BAD;
    }
    const char *lacks = result == OPTIONS_RUN ? set_cache(o) : NULL;
    if (lacks) {
        (void)err_say(error, cap, 0, "%s requires --cache DIR, where films are stored", lacks);
        return OPTIONS_BAD;
    }
    if (result == OPTIONS_RUN && o->choices.blocking > 0 && // it was given
        o->choices.reflect != REFLECT_BLOCKING) {
        (void)err_say(error, cap, 0, "--access-blocking requires --reflect blocking");
        return OPTIONS_BAD;
    }
    o->choices.blocking = o->choices.blocking > 0 ? o->choices.blocking : BLOCKING;
    if (result == OPTIONS_RUN && o->cache_list) {
        if (o->cache)
            return result;
        (void)err_say(error, cap, 0, "--cache-list requires --cache");
        return OPTIONS_BAD;
    }
    if (result == OPTIONS_RUN && o->user && !o->rules.has_origin) {
        (void)err_say(error, cap, 0, "--origin-user requires --origin");
        return OPTIONS_BAD;
    }
    if (result == OPTIONS_RUN && o->user)
        set_user(&o->rules.origin, o->user);
    if (result != OPTIONS_RUN || o->rules.has_origin || o->rules.host_count)
        return result;
    (void)err_say(error, cap, 0,
                  "requires --origin URL, --parent URL, or --allow HOST[:PORT] for each host to "
                  "relay");
    return OPTIONS_BAD;
}

void proxy_options_destroy(void *options)
{
    struct proxy_options *o = options;
    free(o->file);
    o->file = NULL;
}
