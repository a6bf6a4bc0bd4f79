// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/options.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/net/udp_socket.h"

enum { LATEST_SEC = 1000000000 };

static const char *read_address(struct options *o, bool of_serve, const char *value)
{
    if (o->serve != of_serve)
        return of_serve ? "requires the command serve" : "requires the command run";
    return sockaddr_parse(value, &o->server) == 0 &&
                   (of_serve || sockaddr_port((struct sockaddr *)&o->server) != 0)
               ? NULL
               : "expects ADDR:PORT with a numeric address, such as 10.0.0.1:9000 or "
                 "[fd00::1]:9000";
}

static const char *read_listen(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    return read_address(options, true, value);
}

static const char *read_server(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    return read_address(options, false, value);
}

static const char *of_run(void *options, const char *value, char *reason, size_t cap)
{
    (void)value, (void)reason, (void)cap;
    return ((struct options *)options)->serve ? "requires the command run" : NULL;
}

static const char *read_spec(void *options, const char *value, char *reason, size_t cap)
{
    struct options *o = options;
    if (o->serve)
        return "serve expects options only";
    if (o->spec_count == OPTIONS_SPECS)
        return "at most 32 SPECs";
    struct spec *spec = &o->specs[o->spec_count++];
    if (spec_parse(value, spec, reason, cap) != 0)
        return reason;
    o->flow_count += spec->n;
    return o->flow_count > OPTIONS_FLOWS ? "at most 4096 flows in total" : NULL;
}

static const struct option_word command_words[] = {
    {"serve", "sends the traffic"},
    {"run", "requests and receives it"},
    {NULL, NULL},
};

static const struct option_word spec_words[] = {
    {"elephants:[KEYS]", "long TCP flows"},
    {"mice:bytes=[N]", "short TCP flows: connect, receive N bytes, close, repeat"},
    {"cbr:rate=[R]", "UDP datagrams at that rate, of size=1000 payload bytes"},
    {"udp-pareto:rate=[R]",
     "the same in on and off periods of Pareto lengths, on=0.5 and off=1 s, shape=1.5"},
    {"web:[KEYS]", "objects of Pareto sizes, mean=50000 and shape=1.2, with pauses of off=1 s"},
    {NULL, NULL},
};

#define AT(member) offsetof(struct options, member)

// clang-format off
static const struct option_row rows[] = {
    {.section = "Command", .name = "command", .argument = "COMMAND", .operand = true,
     .kind = OPTION_NOTE, .words = command_words, .help = "the first word"},

    {.section = "Options of serve", .name = "listen", .argument = "ADDR:PORT",
     .read = read_listen, .help = "listen on this address and port"},

    {.section = "Options of run", .name = "server", .argument = "ADDR:PORT", .read = read_server,
     .help = "connect to weir-traffic serve at this address"},
    {.name = "epoch", .argument = "SECONDS", .kind = OPTION_SECONDS, .at = AT(epoch),
     .max = LATEST_SEC, .read = of_run,
     .help = "instant on the monotonic clock that times count from (default: now)"},
    {.name = "duration", .argument = "SECONDS", .kind = OPTION_SECONDS, .at = AT(duration),
     .min = 0.001, .max = LATEST_SEC, .read = of_run,
     .help = "end this long after the epoch (default: when all flows have stopped)"},
    {.name = "seed", .argument = "N", .kind = OPTION_SEED, .at = AT(seed), .fallback = "1",
     .read = of_run, .help = "seed of the random sizes and pauses"},
    {.name = "stats", .argument = "FILE", .kind = OPTION_FILE, .at = AT(stats), .read = of_run,
     .help = "write a JSON line per second, and one at the end, to this file"},
    {.name = "spec", .argument = "SPEC", .operand = true, .repeats = true, .read = read_spec,
     .words = spec_words,
     .help = "a group of flows such as elephants:n=7,cc=reno,start=5,stop=60. Keys of all: n (flows), "
             "start and stop (seconds after the epoch); of TCP flows also cc (congestion "
             "control)"},

    {.section = "Options of both", .name = "verbose", .kind = OPTION_LOG_ALL, .at = AT(log.filter),
     .min = LOG_DEBUG, .help = "log to stderr why connections fail"},
    OPTION_ROWS_HELP,
};
// clang-format on

const struct option_table traffic_option_table = {
    .program = "weir-traffic",
    .usage = "serve --listen ADDR:PORT\n"
             "       weir-traffic run --server ADDR:PORT [OPTION]... SPEC...",
    .brief = "compete for a link with TCP and UDP flows",
    .about = "Competing traffic for a link: serve sends it, run requests and receives it.",
    .rest = "Exit status:\n"
            "    0  ended, or stopped by a signal\n"
            "    1  cannot start or continue\n"
            "    2  wrong usage\n",
    .rows = rows,
};

// Returns NULL, or the missing option.
static const char *check(const struct options *o)
{
    if (o->server.ss_family == AF_UNSPEC)
        return o->serve ? "serve requires --listen ADDR:PORT" : "run requires --server ADDR:PORT";
    return o->serve || o->spec_count ? NULL : "run requires a SPEC";
}

enum options_result traffic_options_parse(int argc, char **argv, void *options, FILE *out,
                                          char *error, size_t cap)
{
    struct options *o = options;
    *o = (struct options){.epoch = USEC_NEVER,
                          .duration = USEC_NEVER,
                          .seed = 1,
                          .log = {.filter = log_all(LOG_INFO)}};
    const char *command = argc > 1 ? argv[1] : "";
    o->serve = strcmp(command, "serve") == 0;
    bool known = o->serve || strcmp(command, "run") == 0;
    char *file; // unused: there is no --config
    enum options_result result = OPTIONS_BAD;
    if (known || command[0] == '-') // the command takes the place of the program's name
        result = command_line_read(&traffic_option_table, argc - known, argv + known, o, &file, out,
                                   error, cap);
    else
        snprintf(error, cap, "unknown command \"%s\": expects serve or run", command);
    const char *wrong = result != OPTIONS_RUN ? NULL
                        : !known              ? "no command: expects serve or run"
                                              : check(o);
    if (wrong)
        snprintf(error, cap, "%s", wrong);
    return wrong ? OPTIONS_BAD : result;
}
