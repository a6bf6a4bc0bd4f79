// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/play_options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/level.h"

enum { MIN_LATENCY_MS = 50, MAX_LATENCY_MS = 30000 };
enum { MAX_BUFFER_SEC = 60, MAX_DURATION_SEC = 1000000, MAX_TIMEOUT_SEC = 3600 };

static const char help_head[] =
    "Usage: weir-play [OPTION]... rtsp://HOST[:PORT]/PATH[?level=N]\n"
    "\n"
    "Plays a stream of weir-send and measures what its viewer lives through.\n"
    "The port is 8554 unless given; an IPv6 address stands in brackets.\n"
    "\n"
    "Network:\n"
    "  -t, --transport LIST     transports in order of preference, separated by commas: the first\n"
    "                           that the server gives and the network lets through\n"
    "                           (default: the first of these):\n";

static const char help_rest[] =
    "      --cc NAME            congestion control of the sender's kernel, for transports over\n"
    "                           TCP (cubic, reno, bbr ...)\n"
    "  -l, --level N            the level to watch, 0 is the lowest (default: ?level=N of the\n"
    "                           URL, else the highest)\n"
    "      --adapt HOW          who changes the level while the network changes: sender, none "
    "(fixed\n"
    "                           level), or goddard, this player by the capacity, loss and stalls "
    "that\n"
    "                           it sees (default: the sender for live media, else none)\n"
    "      --goddard NAME=VALUE,...\n"
    "                           parameters of --adapt goddard; the manual lists them\n"
    "\n"
    "Playing:\n"
    "  -b, --buffer SECONDS     media to have before playing starts, 0 to 60 (default: 0.25);\n"
    "                           after a stall the same, but at least 0.5\n"
    "      --latency MS         of live media, from capture to screen, 50 to 30000: kept by\n"
    "                           playing up to 5 % faster or slower, or by a skip\n"
    "                           (default: what the start gave, with --buffer)\n"
    "      --low-latency        a budget of 400 ms, all of it the sender's: frames older than\n"
    "                           that are dropped there, others are shown as soon as they come\n"
    "      --start SECONDS      of a file, begin there\n"
    "      --at SECONDS:ACTION  do something by the clock; repeat it for more. ACTION is\n"
    "                           seek=SECONDS, pause, go-on or level=N\n"
    "  -d, --duration SECONDS   end after so much time\n"
    "      --timeout SECONDS    give the server up when nothing came for so long, 1 to 3600\n"
    "                           (default: 10 over TCP, 13 over UDP)\n"
    "\n"
    "Display:\n"
    "      --headless           no window; pictures are \"shown\" on a clock only\n"
    "  -f, --full-screen        begin in full screen\n"
    "\n"
    "Results:\n"
    "      --report FILE        the QoE report, one JSON object (schema weir.qoe/1), at the end\n"
    "      --events FILE        one JSON object a line, as things happen\n"
    "      --adu-events         in it also a line a received packet of a synthetic stream\n"
    "      --picture-events     in it also a line a frame of the source: how near to it is what "
    "was\n"
    "                           shown in its place\n"
    "      --snapshot FILE.png  the picture shown last\n"
    "      --contact-sheet FILE.png\n"
    "                           twelve of the shown pictures, spread over the session\n"
    "      --reference FILE     compare pictures with this video, of which the server plays a\n"
    "                           copy (test pictures are compared without it)\n"
    "      --no-picture         do not compare pictures\n"
    "\n"
    "General:\n"
    "  -v, --verbose            tell more of what goes on\n"
    "  -q, --quiet              no summary at the end; errors only\n"
    "  -V, --version            print the version\n"
    "  -h, --help               print this\n"
    "\n"
    "Keys in the window: f or a double click full screen, space pause, up and down (or + and -)\n"
    "level, s snapshot to weir-snapshot-NUMBER.png, q or Escape quit.\n"
    "\n"
    "Exit status:\n"
    "    0  end of the media, end of --duration, or the viewer quit\n"
    "    1  internal error, or a result could not be written\n"
    "    2  wrong usage\n"
    "    3  the server cannot be reached, or refused\n"
    "    4  the server was lost in mid-stream\n"
    "    5  the stream cannot be decoded: no picture within 10 s of media\n"
    "  130  interrupted by a signal\n";

enum {
    OPT_CC = 256,
    OPT_ADAPT,
    OPT_GODDARD,
    OPT_LATENCY,
    OPT_LOW_LATENCY,
    OPT_HEADLESS,
    OPT_TIMEOUT,
    OPT_REPORT,
    OPT_EVENTS,
    OPT_ADU_EVENTS,
    OPT_PICTURE_EVENTS,
    OPT_SNAPSHOT,
    OPT_CONTACT_SHEET,
    OPT_REFERENCE,
    OPT_NO_PICTURE,
    OPT_START,
    OPT_AT,
};

static const char short_options[] = ":t:l:b:d:fvqVh";
static const struct option long_options[] = {
    {"transport", required_argument, NULL, 't'},
    {"cc", required_argument, NULL, OPT_CC},
    {"level", required_argument, NULL, 'l'},
    {"adapt", required_argument, NULL, OPT_ADAPT},
    {"goddard", required_argument, NULL, OPT_GODDARD},
    {"buffer", required_argument, NULL, 'b'},
    {"latency", required_argument, NULL, OPT_LATENCY},
    {"low-latency", no_argument, NULL, OPT_LOW_LATENCY},
    {"start", required_argument, NULL, OPT_START},
    {"at", required_argument, NULL, OPT_AT},
    {"duration", required_argument, NULL, 'd'},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"headless", no_argument, NULL, OPT_HEADLESS},
    {"full-screen", no_argument, NULL, 'f'},
    {"report", required_argument, NULL, OPT_REPORT},
    {"events", required_argument, NULL, OPT_EVENTS},
    {"adu-events", no_argument, NULL, OPT_ADU_EVENTS},
    {"picture-events", no_argument, NULL, OPT_PICTURE_EVENTS},
    {"snapshot", required_argument, NULL, OPT_SNAPSHOT},
    {"contact-sheet", required_argument, NULL, OPT_CONTACT_SHEET},
    {"reference", required_argument, NULL, OPT_REFERENCE},
    {"no-picture", no_argument, NULL, OPT_NO_PICTURE},
    {"verbose", no_argument, NULL, 'v'},
    {"quiet", no_argument, NULL, 'q'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

struct parser {
    struct play_options *out;
    bool has_goddard; // it was given
    char *error;
    size_t error_cap;
};

static bool __attribute__((format(printf, 2, 3))) fail(struct parser *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->error, p->error_cap, format, args);
    va_end(args);
    return false;
}

static void print_help(FILE *to)
{
    fputs(help_head, to);
    for (const struct transport_kind *k = transport_kinds; k->name; k++)
        fprintf(to, "        %-8s %s\n", k->name, k->help);
    fprintf(to, "        %-8s %s\n", "auto", TRANSPORT_LIST_AUTO);
    fputs(help_rest, to);
}

static bool parse_transports(struct parser *p, const char *text)
{
    char names[256];
    transport_names(names, sizeof(names));
    struct transport_list *list = &p->out->transports;
    int err = transport_list_split(text, list);
    if (err == ERR_TOO_BIG)
        return fail(p, "--transport '%s': at most %d transports, each shorter than %d characters",
                    text, RTSP_MAX_OFFERS, TRANSPORT_MAX_NAME);
    if (err)
        return fail(p, "--transport '%s': wants NAME[:PARAMS][,NAME...]; there are %s", text,
                    names);
    for (int i = 0; i < list->count; i++) {
        const struct transport_kind *kind;
        const char *params;
        err = transport_find(list->names[i], &kind, &params);
        if (err == ERR_NOT_FOUND)
            return fail(p, "--transport: no transport '%s'; there are %s", list->names[i], names);
        if (err)
            return fail(p, "--transport: the parameters of '%s' are %s; %s: %s", list->names[i],
                        err == ERR_RANGE ? "out of range" : "malformed", kind->name, kind->help);
    }
    return true;
}

static bool parse_cc(struct parser *p, const char *text)
{
    size_t len = strlen(text);
    // A kernel module's name; it also goes into a header line, so nothing else may pass.
    if (!len || len >= sizeof(p->out->cc) ||
        strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") != len)
        return fail(p,
                    "--cc '%s': wants the name of a congestion control: 1 to 15 of a-z, 0-9 and _",
                    text);
    memcpy(p->out->cc, text, len + 1);
    return true;
}

static bool parse_seconds(struct parser *p, const char *option, const char *text, double min,
                          double max, usec_t *out)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || *end || errno || !isfinite(value) || value < min || value > max)
        return fail(p, "%s '%s': wants seconds from %g to %.10g", option, text, min, max);
    *out = (usec_t)llround(value * 1e6);
    return true;
}

static bool parse_latency(struct parser *p, const char *text)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < MIN_LATENCY_MS || value > MAX_LATENCY_MS)
        return fail(p, "--latency '%s': wants milliseconds from %d to %d", text, MIN_LATENCY_MS,
                    MAX_LATENCY_MS);
    p->out->latency = value * USEC_PER_MSEC;
    return true;
}

static bool parse_level(struct parser *p, const char *text)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < 0 || value >= LADDER_MAX_LEVELS)
        return fail(p, "--level '%s': wants a number from 0 to %d", text, LADDER_MAX_LEVELS - 1);
    p->out->level = (int)value;
    return true;
}

static bool parse_adapt(struct parser *p, const char *text)
{
    static const char *const names[] = {
        [ADAPT_SENDER] = "sender", [ADAPT_NONE] = "none", [ADAPT_GODDARD] = "goddard"};
    for (int i = ADAPT_SENDER; i <= ADAPT_GODDARD; i++) {
        if (strcmp(text, names[i]) == 0) {
            p->out->adapt = (enum adapt)i;
            return true;
        }
    }
    return fail(p, "--adapt '%s': wants sender, none or goddard", text);
}

static bool parse_goddard(struct parser *p, const char *text)
{
    char error[GODDARD_PARAMS_ERROR];
    p->has_goddard = true;
    if (goddard_params_read(text, &p->out->goddard, error, sizeof(error)) == 0)
        return true;
    return fail(p, "--goddard '%s': wants %s", text, error);
}

static bool parse_png(struct parser *p, const char *option, const char *text, const char **out)
{
    size_t len = strlen(text);
    if (len < 5 || strcmp(text + len - 4, ".png") != 0)
        return fail(p, "%s '%s': wants a file's name that ends in .png", option, text);
    *out = text;
    return true;
}

static bool parse_file(struct parser *p, const char *option, const char *text, const char **out)
{
    if (!*text)
        return fail(p, "%s: the file's name is empty", option);
    *out = text;
    return true;
}

static bool parse_at(struct parser *p, const char *text)
{
    int err = play_script_add(&p->out->script, text);
    if (err == ERR_FULL)
        return fail(p, "--at: at most %d of them", PLAY_SCRIPT_MAX);
    if (err)
        return fail(p,
                    "--at '%s': wants SECONDS:seek=SECONDS, SECONDS:pause, SECONDS:go-on or "
                    "SECONDS:level=N",
                    text);
    return true;
}

static bool take_option(struct parser *p, int opt, const char *arg)
{
    struct play_options *o = p->out;
    switch (opt) {
    case 't':
        return parse_transports(p, arg);
    case OPT_CC:
        return parse_cc(p, arg);
    case 'l':
        return parse_level(p, arg);
    case 'b':
        o->has_buffer = true;
        return parse_seconds(p, "--buffer", arg, 0, MAX_BUFFER_SEC, &o->buffer);
    case OPT_ADAPT:
        return parse_adapt(p, arg);
    case OPT_GODDARD:
        return parse_goddard(p, arg);
    case 'd':
        return parse_seconds(p, "--duration", arg, 0.001, MAX_DURATION_SEC, &o->duration);
    case OPT_START:
        return parse_seconds(p, "--start", arg, 0, MAX_DURATION_SEC, &o->start);
    case OPT_AT:
        return parse_at(p, arg);
    case OPT_TIMEOUT:
        return parse_seconds(p, "--timeout", arg, 1, MAX_TIMEOUT_SEC, &o->timeout);
    case OPT_REPORT:
        return parse_file(p, "--report", arg, &o->report);
    case OPT_EVENTS:
        return parse_file(p, "--events", arg, &o->events);
    case OPT_ADU_EVENTS:
        o->adu_events = true;
        return true;
    case OPT_PICTURE_EVENTS:
        o->picture_events = true;
        return true;
    case OPT_REFERENCE:
        return parse_file(p, "--reference", arg, &o->reference);
    case OPT_SNAPSHOT:
        return parse_png(p, "--snapshot", arg, &o->snapshot);
    case OPT_CONTACT_SHEET:
        return parse_png(p, "--contact-sheet", arg, &o->contact_sheet);
    case OPT_LATENCY:
        return parse_latency(p, arg);
    case OPT_LOW_LATENCY:
        o->low_latency = true;
        return true;
    case OPT_HEADLESS:
        o->headless = true;
        return true;
    case OPT_NO_PICTURE:
        o->no_picture = true;
        return true;
    case 'f':
        o->full_screen = true;
        return true;
    case 'v':
        o->log_level = LOG_DEBUG;
        return true;
    case 'q':
        o->quiet = true;
        o->log_level = LOG_ERROR;
        return true;
    default:
        return fail(p, "unknown option");
    }
}

static bool take_url(struct parser *p, int argc, char **argv)
{
    if (optind == argc)
        return fail(p, "no URL; wants rtsp://HOST[:PORT]/PATH");
    if (optind + 1 < argc)
        return fail(p, "one URL is enough: '%s' is one too many", argv[optind + 1]);
    const char *why;
    if (url_parse(argv[optind], &p->out->url, &why) != 0)
        return fail(p, "URL '%s': %s; wants rtsp://HOST[:PORT]/PATH[?level=N]", argv[optind], why);
    if (p->out->level < 0)
        p->out->level = p->out->url.level;
    return true;
}

// What Goddard chooses nobody else may.
static bool check_goddard(struct parser *p)
{
    struct play_options *o = p->out;
    if (o->adapt != ADAPT_GODDARD)
        return !p->has_goddard || fail(p, "--goddard wants --adapt goddard beside it");
    if (o->level >= 0)
        return fail(p, "--adapt goddard chooses the level itself, by what it measures of the "
                       "network: leave --level and ?level= out");
    if (o->has_buffer)
        return fail(p, "--adapt goddard has its own buffer: --goddard play_buf_thresh=SECONDS "
                       "instead of --buffer");
    if (o->low_latency)
        return fail(p, "--low-latency and --adapt goddard, which fills a buffer, exclude each "
                       "other");
    if (o->latency)
        return fail(p, "--latency and --adapt goddard exclude each other: both say how much the "
                       "buffer holds");
    o->buffer = (usec_t)llround(o->goddard.play_buf_thresh * 1e6);
    return true;
}

static bool check_together(struct parser *p)
{
    const struct play_options *o = p->out;
    if (o->headless && o->full_screen)
        return fail(p, "--headless and --full-screen exclude each other");
    if (o->latency && o->low_latency)
        return fail(p, "--latency and --low-latency exclude each other");
    if (o->low_latency && o->has_buffer && o->buffer)
        return fail(p, "--low-latency and --buffer exclude each other: it has none");
    if (o->latency && o->has_buffer && o->buffer >= o->latency)
        return fail(p, "--buffer %g s is more than --latency %g ms leaves: wants less than %g s",
                    usec_to_sec(o->buffer), usec_to_msec(o->latency), usec_to_sec(o->latency));
    if (o->no_picture && o->reference)
        return fail(p, "--no-picture and --reference exclude each other");
    if (o->adu_events && !o->events)
        return fail(p, "--adu-events wants --events FILE beside it");
    if (o->picture_events && (!o->events || o->no_picture))
        return fail(p, "--picture-events wants --events FILE beside it, and no --no-picture");
    return check_goddard(p);
}

enum options_result play_options_parse(int argc, char **argv, struct play_options *out, FILE *to,
                                       char *error, size_t error_cap)
{
    *out = (struct play_options){.level = -1, .buffer = USEC_PER_SEC / 4, .log_level = LOG_WARN};
    goddard_params_init(&out->goddard);
    struct parser p = {.out = out, .error = error, .error_cap = error_cap};
    out->transports.count = 1;
    snprintf(out->transports.names[0], TRANSPORT_MAX_NAME, "%s", transport_kinds[0].name);
    optind = 0; // glibc: scan anew, so that tests may call this again and again
    opterr = 0;
    int opt;
    while ((opt = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
        if (opt == 'h' || opt == 'V') {
            if (opt == 'h')
                print_help(to);
            else
                fputs("weir-play " WEIR_VERSION "\n", to);
            return OPTIONS_DONE;
        }
        if (opt == ':') {
            fail(&p, "option '%s' wants a value", argv[optind - 1]);
            return OPTIONS_BAD;
        }
        if (opt == '?') {
            // A short option stands in optopt; a long one (unknown, ambiguous, or with a value it
            // does not take) was argv's last.
            if (optopt && optopt < OPT_CC && !strchr(short_options, optopt))
                fail(&p, "unknown option '-%c'", optopt);
            else
                fail(&p, "unknown option '%s'", argv[optind - 1]);
            return OPTIONS_BAD;
        }
        if (!take_option(&p, opt, optarg))
            return OPTIONS_BAD;
    }
    return take_url(&p, argc, argv) && check_together(&p) ? OPTIONS_RUN : OPTIONS_BAD;
}

int play_options_latency_ms(const struct play_options *o, bool live)
{
    if (o->low_latency)
        return PLAY_OPTIONS_LOW_LATENCY_MS;
    if (o->latency && live)
        return (int)(o->latency / USEC_PER_MSEC);
    return (int)usec_max(1000, o->buffer / USEC_PER_MSEC + 500);
}
