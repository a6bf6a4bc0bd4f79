// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/udp_socket.h"
#include "sender/stream.h"

static const char help[] =
    "Usage: weir-send [OPTIONS] [SOURCE]\n"
    "Encodes scalable layers of video and streams them to every viewer over the transport it asks "
    "for.\n"
    "\n"
    "SOURCE\n"
    "  test:[WxH@FPS]         the built-in moving test picture (default test:1280x720@30)\n"
    "  FILE                   a media file, at its own pace\n"
    "  synthetic:greedy[:KBPS]  packets without pictures, whenever the transport has room; KBPS "
    "paces udp (default 1920)\n"
    "  synthetic:steady[:KBPS]  the same at KBPS, evenly, however long the transport keeps them "
    "waiting\n"
    "  synthetic:goddard      frames without pictures at the seven levels of the Goddard server, "
    "80 "
    "to 1920 kbit/s\n"
    "  synthetic:layers:N,BYTES  the same of 1 to N layers (at most 8) of so many bytes, 25 "
    "frames/s\n"
    "\n"
    "OPTIONS\n"
    "  --listen ADDR:PORT     where viewers connect (default 127.0.0.1:8554; all addresses: "
    "0.0.0.0:8554 or [::]:8554)\n"
    "  --mtp-port PORT        TCP port of the transport mtp-raw (default: any that is free)\n"
    "  --path PATH            path in the URL (default /live)\n"
    "  --level WxH@FPS:KBPS   a quality level; repeat it for a ladder (default: seven levels, 80 "
    "to 1920 kbit/s)\n"
    "  --temporal-layers N    2 or 3 layers of frames that can be dropped one by one (default 2)\n"
    "  --loop                 begin the file again at its end\n"
    "  --timeout SECONDS      a viewer that takes nothing for so long is dropped, 1 to 3600 (20)\n"
    "  --max-viewers N        who comes when so many are connected is refused, 1 to 65535 (1024)\n"
    "  --stats FILE           a JSON line a second and a viewer\n"
    "  --verbose, --quiet     more, or nothing but errors, on stderr\n"
    "  --version, -h, --help\n"
    "\n"
    "Viewers: weir-play rtsp://127.0.0.1:8554/live, or any RTSP player; add ?level=N to the URL "
    "for another level.\n"
    "Exit codes: 0 stopped by a signal, 1 cannot start, 2 wrong usage.\n";

enum {
    OPT_LISTEN = 256,
    OPT_MTP_PORT,
    OPT_PATH,
    OPT_LEVEL,
    OPT_LAYERS,
    OPT_LOOP,
    OPT_TIMEOUT,
    OPT_MAX_VIEWERS,
    OPT_STATS,
    OPT_VERBOSE,
    OPT_QUIET,
    OPT_VERSION,
    OPT_HELP
};

static const struct option long_options[] = {
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"mtp-port", required_argument, NULL, OPT_MTP_PORT},
    {"path", required_argument, NULL, OPT_PATH},
    {"level", required_argument, NULL, OPT_LEVEL},
    {"temporal-layers", required_argument, NULL, OPT_LAYERS},
    {"loop", no_argument, NULL, OPT_LOOP},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"max-viewers", required_argument, NULL, OPT_MAX_VIEWERS},
    {"stats", required_argument, NULL, OPT_STATS},
    {"verbose", no_argument, NULL, OPT_VERBOSE},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static bool path_is_good(const char *path)
{
    return path[0] == '/' && path[1] && strlen(path) < 200 && path[strlen(path) - 1] != '/' &&
           strspn(path, "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-") ==
               strlen(path);
}

static const char *add_level(struct options *o, const char *text)
{
    if (o->level_count == LADDER_MAX_LEVELS)
        return "at most 32 levels";
    int err = level_request_parse(text, &o->levels[o->level_count]);
    if (err == ERR_RANGE)
        return "even sizes of 64x36 to 4096x2304, 1 to 120 frames/s, 8 to 100000 kbit/s";
    if (err)
        return "WIDTHxHEIGHT@FPS:KBPS, for example 640x360@30:960";
    o->level_count++;
    return NULL;
}

static const char *parse_timeout(struct options *o, const char *value)
{
    char *end;
    long seconds = strtol(value, &end, 10);
    if (end == value || *end || seconds < 1 || seconds > 3600)
        return "seconds, 1 to 3600";
    o->timeout = (int)seconds;
    return NULL;
}

static const char *parse_max_viewers(struct options *o, const char *value)
{
    char *end;
    long viewers = strtol(value, &end, 10);
    if (end == value || *end || viewers < 1 || viewers > STREAM_MOST_VIEWERS)
        return "a number of viewers, 1 to 65535";
    o->max_viewers = (int)viewers;
    return NULL;
}

static const char *parse_mtp_port(struct options *o, const char *value)
{
    char *end;
    long port = strtol(value, &end, 10);
    if (end == value || *end || port < 1 || port > 65535)
        return "a port, 1 to 65535";
    o->mtp_port = (int)port;
    return NULL;
}

// NULL, or what is allowed.
static const char *apply(struct options *o, int option, const char *value)
{
    switch (option) {
    case OPT_LISTEN:
        return sockaddr_parse(value, &o->listen) == 0
                   ? NULL
                   : "ADDR:PORT with a numeric address, such as 0.0.0.0:8554 or [::1]:8554";
    case OPT_MTP_PORT:
        return parse_mtp_port(o, value);
    case OPT_PATH:
        o->path = value;
        return path_is_good(value)
                   ? NULL
                   : "a path such as /live: letters, digits and ._~-/, without a slash at its end";
    case OPT_LEVEL:
        return add_level(o, value);
    case OPT_LAYERS:
        o->temporal_layers = atoi(value);
        return strcmp(value, "2") == 0 || strcmp(value, "3") == 0 ? NULL : "2 or 3";
    case OPT_LOOP:
        o->loop = true;
        return NULL;
    case OPT_TIMEOUT:
        return parse_timeout(o, value);
    case OPT_MAX_VIEWERS:
        return parse_max_viewers(o, value);
    case OPT_STATS:
        o->stats = value;
        return NULL;
    case OPT_VERBOSE:
        o->verbosity = 1;
        return NULL;
    default:
        o->verbosity = -1;
        return NULL;
    }
}

// "greedy[:KBPS]" or "steady[:KBPS]". NULL, or what is allowed.
static const char *parse_filler(const char *text, struct options *o)
{
    o->steady = strncmp(text, "steady", 6) == 0;
    const char *rest = text + 6;
    char *end;
    long kbps = *rest ? strtol(rest + 1, &end, 10) : 1920;
    if (*rest && (end == rest + 1 || *end || kbps < 8 || kbps > 2000000))
        return "KBPS from 8 to 2000000";
    o->filler_bps = (int)kbps * 1000;
    return NULL;
}

// "synthetic:...". NULL, or what is allowed.
static const char *parse_synthetic(struct options *o)
{
    if (strncmp(o->source, "synthetic:", 10) != 0)
        return NULL;
    const char *kind = o->source + 10;
    bool filler = strncmp(kind, "greedy", 6) == 0 || strncmp(kind, "steady", 6) == 0;
    if (filler && (!kind[6] || kind[6] == ':'))
        return parse_filler(kind, o);
    int err = synthetic_parse(kind, &o->synthetic);
    if (err == ERR_RANGE)
        return "1 to 8 layers of 16 to 16384 bytes";
    return err ? "synthetic:greedy[:KBPS], synthetic:steady[:KBPS], synthetic:goddard or "
                 "synthetic:layers:N,BYTES"
               : NULL;
}

enum options_result options_parse(int argc, char **argv, struct options *o, FILE *out, FILE *err)
{
    *o = (struct options){.path = "/live",
                          .source = "test:",
                          .temporal_layers = 2,
                          .timeout = STREAM_VIEWER_TIMEOUT_SEC,
                          .max_viewers = STREAM_MAX_VIEWERS};
    sockaddr_parse("127.0.0.1:8554", &o->listen);
    optind = 0; // begin anew, also for a second call
    opterr = 0;
    int option;
    int index = 0; // of the long option
    while ((option = getopt_long(argc, argv, ":h", long_options, &index)) != -1) {
        if (option == OPT_HELP || option == 'h' || option == OPT_VERSION) {
            fputs(option != OPT_VERSION ? help : "weir-send " WEIR_VERSION "\n", out);
            return OPTIONS_DONE;
        }
        if (option == ':' || option == '?') {
            fprintf(err, "weir-send: %s %s; --help lists the options\n", argv[optind - 1],
                    option == ':' ? "needs a value" : "is not an option");
            return OPTIONS_BAD;
        }
        const char *allowed = apply(o, option, optarg);
        if (allowed) {
            fprintf(err, "weir-send: --%s takes %s, not \"%s\"\n", long_options[index].name,
                    allowed, optarg);
            return OPTIONS_BAD;
        }
    }
    if (argc - optind > 1) {
        fprintf(err, "weir-send: one SOURCE, not also \"%s\"\n", argv[optind + 1]);
        return OPTIONS_BAD;
    }
    if (optind < argc)
        o->source = argv[optind];
    const char *allowed = parse_synthetic(o);
    if (allowed)
        fprintf(err, "weir-send: \"%s\" is not a source: %s\n", o->source, allowed);
    return allowed ? OPTIONS_BAD : OPTIONS_RUN;
}
