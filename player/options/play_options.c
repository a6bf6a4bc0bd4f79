// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/options/play_options.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/level.h"
#include "common/program/url_argument.h"
#include "media/record/policy/record_name.h"
#include "player/policy/play_speed.h"
#include "player/policy/web_url.h"
#include "stream/abr/abr_policy.h"

enum { MIN_LATENCY_MS = 50, MAX_LATENCY_MS = 30000 };
enum { ADAPT_WORDS = ADAPT_GODDARD + 1 };
enum { TARGET_SEC = 30, MIN_TARGET_SEC = 4 }; // of a film's buffer
enum { MAX_BUFFER_SEC = 60, MAX_DURATION_SEC = 1000000, MAX_TIMEOUT_SEC = 3600 };

static const char *read_url(void *options, const char *value, char *why, size_t cap)
{
    char line[URL_ARGUMENT_MAX];
    const char *wrong, *url = url_argument_read(value, line);
    if (!url)
        return "cannot read a URL from that file";
    char rtsp[URL_ARGUMENT_MAX];
    if (web_url_to_rtsp(url, rtsp, sizeof(rtsp)))
        url = rtsp;
    if (url_parse(url, &((struct play_options *)options)->url, &wrong) == 0)
        return NULL;
    snprintf(why, cap, "%s; expects rtsp://[USER:PASSWORD@]HOST[:PORT]/PATH[?level=N]", wrong);
    return why;
}

static const char *read_transports(void *options, const char *value, char *why, size_t cap)
{
    return transport_list_read(&((struct play_options *)options)->transports, value, why, cap);
}

static const char *read_cc(void *options, const char *value, char *why, size_t cap)
{
    (void)why, (void)cap;
    struct play_options *o = options;
    size_t len = strlen(value);
    // A kernel module's name; it also goes into a header line, so nothing else may pass.
    if (!len || len >= sizeof(o->cc) ||
        strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_") != len)
        return "expects the name of a congestion control: 1 to 15 of a-z, 0-9 and _";
    memcpy(o->cc, value, len + 1);
    return NULL;
}

static const struct option_word cc_words[] = {
    {"cubic", NULL}, {"reno", NULL}, {"bbr", NULL}, {NULL, NULL}};

static const char *adapt_value(int i, const char **help)
{
    static const char *const list[][2] = {
        {"auto", "sender, and this player for a prepared film, by what the path carries and "
                 "what is buffered; a chosen level stays; the default"},
        {"sender", "the server, by the measured network rate; not of a stored ladder"},
        {"none", "no adaptation: a fixed level"},
        {"goddard", "this player, by the capacity, loss and stalls that it measures"},
    };
    if (i >= ADAPT_WORDS) { // after auto itself
        *help = "as auto, but a film's levels by this policy, to compare";
        return abr_policy_name(i - ADAPT_WORDS + 1);
    }
    *help = list[i][1];
    return list[i][0];
}

static const char *read_adapt(void *options, const char *value, char *why, size_t cap)
{
    (void)why, (void)cap;
    struct play_options *o = options;
    const char *help;
    const char *word;
    for (int i = 0; (word = adapt_value(i, &help)); i++) {
        if (strcmp(value, word) == 0) {
            o->adapt = i < ADAPT_WORDS ? (enum adapt)(ADAPT_AUTO + i) : ADAPT_AUTO;
            o->film_policy = i < ADAPT_WORDS ? abr_policy_name(0) : word;
            return NULL;
        }
    }
    return "expects auto, sender, none or goddard, or a policy of films";
}

static const struct option_word repair_words[] = {
    {"auto", "packets again where the latency leaves time for it, parity where it does not; "
             "the default"},
    {"resend", "packets again only"},
    {"fec", "parity, where the latency leaves time for it"},
    {"off", "neither: the encoder does without the lost frames"},
    {NULL, NULL},
};

static const char *read_repair(void *options, const char *value, char *why, size_t cap)
{
    (void)why, (void)cap;
    return repair_mode_parse(value, &((struct play_options *)options)->repair)
               ? NULL
               : "expects off, resend, fec or auto";
}

static const char *read_goddard(void *options, const char *value, char *why, size_t cap)
{
    struct play_options *o = options;
    char error[GODDARD_PARAMS_ERROR];
    o->has_goddard = true;
    if (goddard_params_read(value, &o->goddard, error, sizeof(error)) == 0)
        return NULL;
    snprintf(why, cap, "expects %s", error);
    return why;
}

static const char *read_buffer(void *options, const char *value, char *why, size_t cap)
{
    struct play_options *o = options;
    o->has_buffer = true;
    return option_seconds_read(value, 0, MAX_BUFFER_SEC, &o->buffer, why, cap);
}

static const char *read_at(void *options, const char *value, char *why, size_t cap)
{
    int err = play_script_add(&((struct play_options *)options)->script, value);
    if (err == ERR_FULL) {
        snprintf(why, cap, "at most %d actions", PLAY_SCRIPT_MAX);
        return why;
    }
    return err ? "expects SECONDS:seek=SECONDS, SECONDS:pause, SECONDS:go-on, SECONDS:level=N, "
                 "SECONDS:scale=N, SECONDS:speed=N, SECONDS:channel=N, SECONDS:next, "
                 "SECONDS:previous or "
                 "SECONDS:stop"
               : NULL;
}

static const char *read_speed(void *options, const char *value, char *why, size_t cap)
{
    char *end;
    double speed = strtod(value, &end);
    if (end == value || *end || !(speed >= PLAY_SPEED_LEAST && speed <= PLAY_SPEED_MOST)) {
        snprintf(why, cap, "expects %g to %g", PLAY_SPEED_LEAST, PLAY_SPEED_MOST);
        return why;
    }
    ((struct play_options *)options)->speed = play_speed_limit(speed);
    return NULL;
}

static const char *read_quiet(void *options, const char *value, char *why, size_t cap)
{
    (void)value, (void)why, (void)cap;
    ((struct play_options *)options)->quiet = true;
    return NULL;
}

static const char *read_latency(void *options, const char *value, char *why, size_t cap)
{
    struct play_options *o = options;
    int ms = 0;
    o->latency_auto = strcmp(value, "auto") == 0;
    if (!o->latency_auto && option_int_read(value, MIN_LATENCY_MS, MAX_LATENCY_MS, &ms, why, cap)) {
        snprintf(why, cap, "expects auto, or %d to %d milliseconds", MIN_LATENCY_MS,
                 MAX_LATENCY_MS);
        return why;
    }
    o->latency = ms * USEC_PER_MSEC;
    return NULL;
}

static const char *read_record(void *options, const char *value, char *why, size_t cap)
{
    (void)options, (void)why, (void)cap;
    return record_name_fault(value);
}

static const struct option_word latency_words[] = {
    {"auto", "what the network's jitter and its repair need; the default"}, {NULL, NULL}};

#define AT(member) offsetof(struct play_options, member)

// clang-format off
static const struct option_row rows[] = {
    {.name = "url", .operand = true, .argument = "URL", .read = read_url, .hides_user = true,
     .section = "Stream", .help = "rtsp://HOST[:PORT]/PATH[?level=N], or the rtsps:// URL that the "
     "server prints, in quotes; rtsp://HOST/ lists what it serves; the default port is 8554; "
     "an IPv6 address requires brackets, a link-local one its interface: [fe80::1%25eth0]; "
     "@FILE: a file whose first line is the URL, as other users see the command line"},

    {.name = "list-servers", .kind = OPTION_SWITCH, .at = AT(list_servers),
     .help = "print the servers that announce themselves on this network within 2 s, a line each, "
     "and exit: the URL, without its key if it requires one, and the name"},

    {.name = "playlist", .argument = "FILE", .kind = OPTION_FILE, .at = AT(playlist_file),
     .help = "the channels for PageUp and PageDown: a line each, a URL or a path on the server of "
     "the URL before it, such as the command line's; M3U is accepted. Without URL the first of them "
     "begins"},

    {.section = "Network", .name = "transport", .letter = 't', .argument = "LIST",
     .read = read_transports, .value = transport_list_value,
     .help = "transports in order of preference, separated by commas; uses the first that the server "
     "offers and that works on this network (default: auto):"},
    {.name = "cc", .argument = "NAME", .read = read_cc, .words = cc_words,
     .help = "congestion control of the sender's kernel, for transports over TCP (cubic, reno, "
     "bbr ...)"},
    {.name = "repair", .argument = "HOW", .read = read_repair, .words = repair_words,
     .help = "what the server sends for packets that get lost on datagram transports:"},
    {.name = "second-path", .argument = "NETWORK", .kind = OPTION_TEXT, .at = AT(second),
     .help = "an interface, or a local address, of a second network, such as a cellular one: live media that the first one "
     "would bring too late comes over it; at most 12 % of the bytes while the first one works. Uses --transport scream unless "
     "another transport of datagrams is named"},
    {.name = "srtp", .kind = OPTION_SWITCH, .at = AT(srtp),
     .help = "accept datagrams as SRTP only, even where RTSP is not encrypted; then the keys can be read on the network: for "
     "tests"},
    {.name = "level", .letter = 'l', .argument = "N", .kind = OPTION_INT, .at = AT(level),
     .max = LADDER_MAX_LEVELS - 1,
     .help = "the level to watch, 0 is the lowest (default: ?level=N of the URL, else the "
     "highest)"},
    {.name = "keep-levels", .kind = OPTION_SWITCH, .at = AT(keep_levels),
     .help = "request no lower level of live media when this machine is too slow to show it"},
    {.name = "adapt", .argument = "HOW", .read = read_adapt, .value = adapt_value,
     .help = "who changes the level when the network changes:"},
    {.name = "goddard", .argument = "NAME=VALUE,...", .read = read_goddard,
     .value = goddard_params_name,
     .help = "parameters of --adapt goddard; the guide player.md explains them"},

    {.section = "Playing", .name = "buffer", .letter = 'b', .argument = "SECONDS",
     .read = read_buffer, .fallback = "0.25",
     .help = "media to buffer before playing starts, and after a stall (then at least 0.5), 0 to "
     "60; live media buffers what --latency needs instead, unless this option is given. Of a "
     "prepared film: media to buffer while it plays, at least 4 (default: 30)"},
    {.name = "latency", .argument = "MS", .read = read_latency, .words = latency_words,
     .help = "latency of live media from capture to screen: MS, 50 to 30000, is a budget that is "
     "kept whatever the network does. With --buffer it is that of the start instead. Or:"},
    {.name = "low-latency", .kind = OPTION_SWITCH, .at = AT(low_latency),
     .help = "the sender drops frames older than 400 ms, and the player shows each frame as soon "
     "as it arrives, without a buffer"},
    {.name = "start", .argument = "SECONDS", .kind = OPTION_SECONDS, .at = AT(start),
     .min = -MAX_DURATION_SEC, .max = MAX_DURATION_SEC,
     .help = "begin at this position of a file, or with -SECONDS so long ago in live video"},
    {.name = "speed", .argument = "FACTOR", .read = read_speed, .fallback = "1",
     .help = "play films so many times as fast, .5 to 2, with the audio in its pitch"},
    {.name = "at", .argument = "SECONDS:ACTION", .read = read_at, .repeats = true,
     .help = "perform ACTION at this time of the session; may be repeated. ACTION is seek=SECONDS, "
     "pause, go-on, level=N, scale=N (2, 4, 8 fast forward, -2, -4, -8 rewind, 1 normal play), "
     "speed=N, channel=N, next, previous or stop"},
    {.name = "duration", .letter = 'd', .argument = "SECONDS", .kind = OPTION_SECONDS,
     .at = AT(duration), .min = 0.001, .max = MAX_DURATION_SEC,
     .help = "end after this time"},
    {.name = "timeout", .argument = "SECONDS", .kind = OPTION_SECONDS, .at = AT(timeout),
     .min = 1, .max = MAX_TIMEOUT_SEC,
     .help = "give up the server after this time without a whole message or media, 1 to 3600 "
     "(default: 10 over TCP, 15 over UDP)"},
    {.name = "reconnect", .kind = OPTION_TRISTATE, .at = AT(reconnect),
     .help = "reconnect to a lost server, repeatedly; the default with a window"},
    {.name = "no-reconnect", .kind = OPTION_OPPOSITE, .opposite = "reconnect",
     .help = "end when the server is lost; the default with --headless"},
    {.name = "standby", .kind = OPTION_TRISTATE, .at = AT(standby),
     .help = "with channels and media over TCP, keep a second connection to the server, over which "
     "the next channel begins; the default"},
    {.name = "no-standby", .kind = OPTION_OPPOSITE, .opposite = "standby",
     .help = "change channels over the connection that there is"},

    {.section = "Display", .name = "headless", .kind = OPTION_SWITCH, .at = AT(headless),
     .help = "no window; pictures are timed, but not displayed"},
    {.name = "full-screen", .letter = 'f', .kind = OPTION_SWITCH, .at = AT(full_screen),
     .help = "begin in full screen"},
    {.name = "no-resume", .kind = OPTION_SWITCH, .at = AT(no_resume),
     .help = "begin a film at its beginning, not where it was left, and do not note where it is "
     "left; so does everything without a window"},

    {.section = "Audio", .name = "no-audio", .kind = OPTION_SWITCH, .at = AT(no_audio),
     .help = "do not request the audio"},
    {.name = "volume", .argument = "PERCENT", .kind = OPTION_INT, .at = AT(volume), .min = 0,
     .max = 100, .fallback = "100", .help = "audio volume, 0 to 100"},
    {.name = "audio-track", .argument = "N", .kind = OPTION_INT, .at = AT(audio_track),
     .max = SDP_AUDIO_TRACKS,
     .help = "begin with the film's audio track N, from 1; the key # changes it (default: 0, the "
     "server's first)"},
    {.name = "subtitles", .argument = "N", .kind = OPTION_INT, .at = AT(subtitles),
     .min = -1, .max = SUBTITLE_TRACKS,
     .help = "show the film's track N of text subtitles, from 1; the key v changes it (default: 0, "
     "the track that the film marks as default or forced; -1: none)"},

    {.section = "Results", .name = "report", .argument = "FILE", .kind = OPTION_FILE,
     .at = AT(report),
     .help = "write the QoE report at the end: one JSON object (schema weir.qoe/1)"},
    {.name = "events", .argument = "FILE", .kind = OPTION_FILE, .at = AT(events),
     .help = "write a trace of events: one JSON object a line, as they happen"},
    {.name = "adu-events", .kind = OPTION_SWITCH, .at = AT(adu_events),
     .help = "add a line to --events for each received packet of a synthetic stream"},
    {.name = "picture-events", .kind = OPTION_SWITCH, .at = AT(picture_events),
     .help = "add a line to --events for each frame of the source: its similarity to the picture "
     "shown in its place"},
    {.name = "snapshot", .argument = "FILE.png", .kind = OPTION_PNG, .at = AT(snapshot),
     .help = "write the last shown picture"},
    {.name = "contact-sheet", .argument = "FILE.png", .kind = OPTION_PNG, .at = AT(contact_sheet),
     .help = "write twelve of the shown pictures, spread over the session"},
    {.name = "record", .argument = "FILE.mkv", .kind = OPTION_FILE, .at = AT(record),
     .read = read_record,
     .help = "record what arrives, as it was encoded; a file is never replaced: if the name is taken, "
     "+2, +3 ... is added. %Y, %m, %d, %H, %M and %S in the name stand for the local time"},
    {.name = "reference", .argument = "FILE", .kind = OPTION_FILE, .at = AT(reference),
     .help = "compare pictures with this copy of the video that the server plays (test pictures "
     "require no copy)"},
    {.name = "no-picture", .kind = OPTION_SWITCH, .at = AT(no_picture),
     .help = "do not compare pictures"},

    OPTION_ROWS_LOG(AT(log.filter), AT(log.json), "warn"),
    {.name = "quiet", .letter = 'q', .kind = OPTION_LOG_ALL, .at = AT(log.filter),
     .min = LOG_ERROR, .read = read_quiet,
     .help = "--log error, and no summary at the end"},
    OPTION_ROWS_CONFIG,
    OPTION_ROWS_HELP,
};
// clang-format on

const struct option_table play_option_table = {
    .program = "weir-play",
    .usage = "[OPTION]... rtsp://HOST[:PORT]/PATH[?level=N]",
    .brief = "play a stream and measure its quality of experience",
    .about = "Plays a stream of weir-send and measures the quality of experience (QoE).",
    .rest =
        "Keys in the window: ? lists them; i the panel of stats and graphs, l and t menus of\n"
        "levels and transports, space pause, . one picture on, left and right 10 s in a file, ] "
        "and\n"
        "[ fast forward and rewind, Backspace normal play, up and down (or + and -) level, PageUp\n"
        "and PageDown channel, c the list of channels, x stop, f or a double click full screen,\n"
        "9 and 0 (or the wheel) volume, m mute, # audio track, v subtitles, s snapshot to\n"
        "weir-snapshot-N.png, q or Escape quit.\n"
        "\n"
        "Exit status:\n"
        "    0  end of the media, end of --duration, or the viewer quit\n"
        "    1  internal error, or a result could not be written\n"
        "    2  wrong usage\n"
        "    3  the server cannot be reached, or refused the request; --list-servers found none\n"
        "    4  the server was lost during the stream\n"
        "    5  the stream cannot be decoded: no picture within 10 s of media\n"
        "  130  interrupted by a signal\n",
    .rows = rows,
};

// ---- Which options conflict ----

static bool __attribute__((format(printf, 3, 4)))
fail(char *error, size_t cap, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error, cap, format, args);
    va_end(args);
    return false;
}

// --adapt goddard chooses level and buffer itself: options that set them conflict with it.
static bool check_goddard(struct play_options *o, char *error, size_t cap)
{
    if (o->adapt != ADAPT_GODDARD)
        return !o->has_goddard || fail(error, cap, "--goddard requires --adapt goddard");
    if (o->level >= 0)
        return fail(error, cap,
                    "--adapt goddard conflicts with --level and ?level=: it chooses the level "
                    "itself");
    if (o->has_buffer)
        return fail(error, cap,
                    "--buffer conflicts with --adapt goddard: use --goddard "
                    "play_buf_thresh=SECONDS");
    if (o->low_latency)
        return fail(error, cap,
                    "--low-latency conflicts with --adapt goddard, which fills a buffer");
    if (o->latency || o->latency_auto)
        return fail(error, cap,
                    "--latency conflicts with --adapt goddard: both set the size of "
                    "the buffer");
    o->buffer = (usec_t)llround(o->goddard.play_buf_thresh * 1e6);
    return true;
}

// Reads the channels. The command line's URL is the first, unless it names a server only.
static bool read_playlist(struct play_options *o, char *error, size_t cap)
{
    const char *name = o->playlist_file;
    char why[200];
    size_t len = 0;
    FILE *file = fopen(name, "rbe");
    char *text = file ? malloc(PLAYLIST_MAX_BYTES + 1) : NULL;
    if (text)
        len = fread(text, 1, PLAYLIST_MAX_BYTES + 1, file);
    bool read = text && !ferror(file);
    if (file)
        fclose(file);
    if (!read) {
        free(text);
        return fail(error, cap, "--playlist %s: cannot be read", name);
    }
    bool has_url = o->url.host[0];
    struct url given = o->url;
    snprintf(why, sizeof(why), "out of memory");
    int err = has_url && !url_is_root(&given) ? playlist_add(&o->playlist, &given, "") : 0;
    if (!err)
        err = playlist_read(&o->playlist, text, len, has_url ? &given : NULL, why, sizeof(why));
    free(text);
    if (err)
        return fail(error, cap, "--playlist %s: %s", name, why);
    o->url = o->playlist.channels[0].url;
    return true;
}

// Derives values that depend on several options. Returns false if options conflict: `error` says
// which.
static bool check(struct play_options *o, char *error, size_t cap)
{
    if (o->list_servers && (o->url.host[0] || o->playlist_file))
        return fail(error, cap, "--list-servers conflicts with a URL and --playlist");
    if (o->playlist_file && !read_playlist(o, error, cap))
        return false;
    if (o->list_servers)
        return true;
    if (!o->url.host[0] && o->chooses && !o->headless)
        return true;
    if (!o->url.host[0])
        return fail(error, cap, "a URL is required: rtsp://HOST[:PORT]/PATH");
    if (o->level < 0)
        o->level = o->url.level;
    if (o->headless && o->full_screen)
        return fail(error, cap, "--headless conflicts with --full-screen");
    if ((o->latency || o->latency_auto) && o->low_latency)
        return fail(error, cap, "--latency conflicts with --low-latency");
    if (o->low_latency && o->has_buffer && o->buffer)
        return fail(error, cap, "--low-latency conflicts with --buffer: it has no buffer");
    if (o->latency_auto && o->has_buffer)
        return fail(error, cap, "--latency auto conflicts with --buffer: it chooses the buffer");
    if (o->latency && o->has_buffer && o->buffer >= o->latency)
        return fail(error, cap,
                    "--buffer %g s conflicts with --latency %g ms: expects less than %g s",
                    usec_to_sec(o->buffer), usec_to_msec(o->latency), usec_to_sec(o->latency));
    if (o->second && o->transports.any)
        (void)transport_list_split("scream", &o->transports);
    if (o->second && (o->transports.count != 1 || !transport_needs_udp(o->transports.names[0])))
        return fail(error, cap,
                    "--second-path expects one transport of datagrams, such as --transport scream");
    if (o->reconnect == OPTION_UNSET)
        o->reconnect = o->headless ? OPTION_OFF : OPTION_ON;
    if (o->no_picture && o->reference)
        return fail(error, cap, "--no-picture conflicts with --reference");
    if (o->adu_events && !o->events)
        return fail(error, cap, "--adu-events requires --events FILE");
    if (o->picture_events && (!o->events || o->no_picture))
        return fail(error, cap,
                    "--picture-events requires --events FILE and conflicts with --no-picture");
    return check_goddard(o, error, cap);
}

static enum options_result parse(int argc, char **argv, struct play_options *out, bool chooses,
                                 FILE *to, char *error, size_t error_cap)
{
    *out = (struct play_options){.level = -1,
                                 .chooses = chooses,
                                 .reconnect = OPTION_UNSET,
                                 .standby = OPTION_ON,
                                 .volume = 100,
                                 .repair = REPAIR_MODE_AUTO,
                                 .speed = 1,
                                 .film_policy = abr_policy_name(0),
                                 .buffer = USEC_PER_SEC / 4,
                                 .log = {.filter = log_all(LOG_WARN)}};
    goddard_params_init(&out->goddard);
    (void)transport_list_split("auto", &out->transports);
    enum options_result result =
        command_line_read(&play_option_table, argc, argv, out, &out->file, to, error, error_cap);
    if (result == OPTIONS_RUN && !check(out, error, error_cap)) {
        play_options_destroy(out);
        return OPTIONS_BAD;
    }
    return result;
}

enum options_result play_options_parse(int argc, char **argv, void *options, FILE *to, char *error,
                                       size_t error_cap)
{
    return parse(argc, argv, options, false, to, error, error_cap);
}

enum options_result play_options_parse_choosing(int argc, char **argv, void *options, FILE *to,
                                                char *error, size_t error_cap)
{
    return parse(argc, argv, options, true, to, error, error_cap);
}

bool play_options_choose(struct play_options *o, const char *url, char *error, size_t cap)
{
    struct url before = o->url;
    char why[200];
    // "@" begins the name of a file, on the command line.
    const char *wrong = *url == '@' ? "expects a URL" : read_url(o, url, why, sizeof(why));
    if (wrong)
        snprintf(error, cap, "%s", wrong);
    bool is_good = !wrong && check(o, error, cap);
    if (!is_good)
        o->url = before;
    return is_good;
}

void play_options_destroy(void *options)
{
    struct play_options *o = options;
    free(o->file);
    o->file = NULL;
    playlist_free(&o->playlist);
}

int play_options_latency_ms(const struct play_options *o, bool live)
{
    if (o->low_latency)
        return PLAY_OPTIONS_LOW_LATENCY_MS;
    if (o->latency && live)
        return (int)(o->latency / USEC_PER_MSEC);
    return (int)(goddard_params_sender_wait(o->buffer) / USEC_PER_MSEC);
}

const char *play_options_policy(const struct play_options *o, const struct sdp *sdp)
{
    if (o->adapt == ADAPT_GODDARD)
        return "goddard";
    bool is_film = sdp->duration >= 0 && sdp_has_pictures(sdp) && *sdp->validator;
    bool fills = o->adapt == ADAPT_AUTO && !o->low_latency;
    return is_film && fills && sdp->ladder.level_count > 0 ? o->film_policy : NULL;
}

usec_t play_options_buffer_target(const struct play_options *o)
{
    return o->has_buffer ? usec_max(o->buffer, MIN_TARGET_SEC * USEC_PER_SEC)
                         : TARGET_SEC * USEC_PER_SEC;
}
