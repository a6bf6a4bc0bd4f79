// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/options.h"

#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "common/net/udp_socket.h"

static const char help[] =
    "Usage: weir-traffic serve --listen ADDR:PORT\n"
    "       weir-traffic run --server ADDR:PORT [OPTIONS] SPEC...\n"
    "Competing traffic for a link: `serve` is the source of it, `run` pulls it.\n"
    "\n"
    "SPEC\n"
    "  elephants:n=7,cc=reno,start=5,stop=60   long TCP flows\n"
    "  mice:n=40,bytes=20000,cc=reno           connect, BYTES from the server, close, again\n"
    "  cbr:rate=3mbit,size=1000                UDP datagrams of SIZE payload bytes at RATE\n"
    "  web:n=10,cc=cubic,mean=50000,shape=1.2,off=1\n"
    "                                          objects of Pareto sizes, pauses of `off` s\n"
    "  All take n (flows), start and stop (seconds after the epoch).\n"
    "\n"
    "OPTIONS of run\n"
    "  --epoch SECONDS        what times count from, on the monotonic clock (default: now)\n"
    "  --duration S           ends S seconds after the epoch (default: when all have stopped)\n"
    "  --seed N               of sizes and pauses (default 1)\n"
    "  --stats FILE           a JSON line a second, and one at the end\n"
    "OPTIONS of both\n"
    "  --verbose              why connections fail, on stderr\n"
    "  --version, -h, --help\n"
    "\n"
    "Exit codes: 0 ended or stopped by a signal, 1 cannot start or go on, 2 wrong usage.\n";

enum {
    OPT_LISTEN = 256,
    OPT_SERVER,
    OPT_EPOCH,
    OPT_DURATION,
    OPT_SEED,
    OPT_STATS,
    OPT_VERBOSE,
    OPT_VERSION,
    OPT_HELP
};

static const struct option serve_options[] = {
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"verbose", no_argument, NULL, OPT_VERBOSE},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static const struct option run_options[] = {
    {"server", required_argument, NULL, OPT_SERVER},
    {"epoch", required_argument, NULL, OPT_EPOCH},
    {"duration", required_argument, NULL, OPT_DURATION},
    {"seed", required_argument, NULL, OPT_SEED},
    {"stats", required_argument, NULL, OPT_STATS},
    {"verbose", no_argument, NULL, OPT_VERBOSE},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

// NULL, or what is allowed.
static const char *apply(struct options *o, int option, const char *value)
{
    struct scan text = scan_of(value ? value : "", value ? strlen(value) : 0);
    int64_t number = 0;
    switch (option) {
    case OPT_LISTEN:
    case OPT_SERVER:
        if (sockaddr_parse(value, &o->server) == 0 &&
            (o->serve || sockaddr_port((struct sockaddr *)&o->server) != 0))
            return NULL;
        o->server.ss_family = AF_UNSPEC;
        return "ADDR:PORT with a numeric address, such as 10.0.0.1:9000 or [fd00::1]:9000";
    case OPT_EPOCH:
        return spec_parse_seconds(text, &o->epoch) ? NULL : "seconds of the monotonic clock";
    case OPT_DURATION:
        return spec_parse_seconds(text, &o->duration) && o->duration > 0 ? NULL : "seconds above 0";
    case OPT_SEED:
        if (!scan_int(&text, INT64_MAX / 10 - 1, &number) || !scan_end(&text))
            return "a whole number below 9e17";
        o->seed = (uint64_t)number;
        return NULL;
    case OPT_STATS:
        o->stats = value;
        return NULL;
    default:
        o->verbose = true;
        return NULL;
    }
}

static enum options_result bad(FILE *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum options_result bad(FILE *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("weir-traffic: ", err);
    vfprintf(err, format, args);
    fputs("\nTry 'weir-traffic --help'.\n", err);
    va_end(args);
    return OPTIONS_BAD;
}

static enum options_result parse_specs(int argc, char **argv, struct options *o, FILE *err)
{
    char error[384];
    for (int i = optind; i < argc; i++) {
        if (o->spec_count == OPTIONS_SPECS)
            return bad(err, "at most 32 SPECs, not also \"%s\"", argv[i]);
        struct spec *spec = &o->specs[o->spec_count++];
        if (spec_parse(argv[i], spec, error, sizeof(error)) != 0)
            return bad(err, "%s", error);
        o->flow_count += spec->n;
    }
    if (o->flow_count > OPTIONS_FLOWS)
        return bad(err, "at most 4096 flows in all");
    return o->spec_count ? OPTIONS_RUN : bad(err, "run needs a SPEC");
}

enum options_result traffic_options_parse(int argc, char **argv, struct options *o, FILE *out,
                                          FILE *err)
{
    *o = (struct options){.epoch = USEC_NEVER, .duration = USEC_NEVER, .seed = 1};
    const char *command = argc > 1 ? argv[1] : "";
    o->serve = strcmp(command, "serve") == 0;
    bool known = o->serve || strcmp(command, "run") == 0;
    if (!known && command[0] != '-')
        return bad(err, "serve or run, not \"%s\"", command);
    optind = 0; // begin anew, also for a second call
    opterr = 0;
    argc -= known; // the command takes the place of the program's name
    argv += known;
    int option;
    int index = 0; // of the long option
    const struct option *list = o->serve ? serve_options : run_options;
    while ((option = getopt_long(argc, argv, ":h", list, &index)) != -1) {
        if (option == OPT_HELP || option == 'h' || option == OPT_VERSION) {
            fputs(option != OPT_VERSION ? help : "weir-traffic " WEIR_VERSION "\n", out);
            return OPTIONS_DONE;
        }
        if (option == ':' || option == '?')
            return bad(err, "%s %s", argv[optind - 1],
                       option == ':' ? "needs a value" : "is not an option");
        const char *allowed = apply(o, option, optarg);
        if (allowed)
            return bad(err, "--%s takes %s", list[index].name, allowed);
    }
    if (!known)
        return bad(err, "serve or run comes first");
    if (o->server.ss_family == AF_UNSPEC)
        return bad(err, "%s ADDR:PORT is needed", o->serve ? "--listen" : "--server");
    if (!o->serve)
        return parse_specs(argc, argv, o, err);
    return optind == argc ? OPTIONS_RUN : bad(err, "serve takes no \"%s\"", argv[optind]);
}
