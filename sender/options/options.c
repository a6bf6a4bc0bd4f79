// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/options/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"
#include "common/net/udp_socket.h"
#include "media/audio/audio_encoder.h"
#include "media/capture/audio_open.h"
#include "media/source/audio_source.h"
#include "sender/policy/viewer_limits.h"

static bool path_is_good(const char *path)
{
    return path[0] == '/' && path[1] && strlen(path) < 200 && path[strlen(path) - 1] != '/' &&
           strspn(path, "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-") ==
               strlen(path);
}

static const char *read_listen(void *options, const char *value, char *why, size_t cap)
{
    (void)why, (void)cap;
    struct options *o = options;
    const char *wrong;
    if (sockaddr_read(value, &o->listen, &wrong) == 0)
        return NULL;
    return wrong ? wrong
                 : "expects ADDR:PORT with a numeric address, such as 0.0.0.0:8554 or [::1]:8554";
}

static const char *read_path(void *options, const char *value, char *why, size_t cap)
{
    (void)options, (void)why, (void)cap;
    return path_is_good(value) ? NULL
                               : "expects a path such as /live: letters, digits and ._~-/, without "
                                 "a slash at its end";
}

static const char *read_level(void *options, const char *value, char *why, size_t cap)
{
    (void)why, (void)cap;
    struct options *o = options;
    if (o->level_count == LADDER_MAX_LEVELS)
        return "at most 32 levels";
    int err = level_request_parse(value, &o->levels[o->level_count]);
    if (err == ERR_RANGE)
        return "expects even sizes of 64x36 to 4096x2304, 1 to 120 frames/s, 8 to 100000 kbit/s";
    if (err)
        return "expects WIDTHxHEIGHT@FPS:KBPS, for example 640x360@30:960";
    o->level_count++;
    return NULL;
}

static const char *read_layers(void *options, const char *value, char *why, size_t cap)
{
    (void)why, (void)cap;
    struct options *o = options;
    o->temporal_layers = atoi(value);
    return strcmp(value, "2") == 0 || strcmp(value, "3") == 0 ? NULL : "expects 2 or 3";
}

static const char *read_capture(void *options, const char *value, char *why, size_t cap)
{
    (void)why, (void)cap;
    struct options *o = options;
    o->has_capture = true;
    return geometry_parse(value, &o->capture) == 0
               ? NULL
               : "expects WIDTHxHEIGHT@FPS, such as 1920x1080@30; " GEOMETRY_RULE;
}

static const char *read_metrics(void *options, const char *value, char *why, size_t cap)
{
    (void)why, (void)cap;
    struct options *o = options;
    const char *wrong;
    if (sockaddr_read(value, &o->metrics, &wrong) == 0)
        return NULL;
    return wrong ? wrong : "expects ADDR:PORT with a numeric address, such as 127.0.0.1:9464";
}

static const char *read_audio(void *options, const char *value, char *why, size_t cap)
{
    (void)options, (void)why, (void)cap;
    return audio_source_is_name(value) ? NULL : "expects pulse[:DEVICE], alsa[:DEVICE] or none";
}

// "greedy[:KBPS]" or "steady[:KBPS]". NULL, or what is allowed.
static const char *parse_filler(const char *text, struct options *o)
{
    o->steady = strncmp(text, "steady", 6) == 0;
    struct scan rest = scan_of(text + 6, strlen(text + 6));
    int64_t kbps = 1920;
    bool said = scan_char(&rest, ':');
    if ((said && !scan_int(&rest, 2000000, &kbps)) || !scan_end(&rest) || kbps < 8)
        return "expects synthetic:greedy[:KBPS] or synthetic:steady[:KBPS], KBPS from 8 to 2000000";
    o->filler_bps = (int)kbps * 1000;
    return NULL;
}

// "synthetic:..." and all else. NULL, or what is allowed.
static const char *read_source(void *options, const char *value, char *why, size_t cap)
{
    (void)why, (void)cap;
    struct options *o = options;
    if (strncmp(value, "synthetic:", 10) != 0)
        return NULL;
    const char *kind = value + 10;
    bool filler = strncmp(kind, "greedy", 6) == 0 || strncmp(kind, "steady", 6) == 0;
    if (filler && (!kind[6] || kind[6] == ':'))
        return parse_filler(kind, o);
    int err = synthetic_parse(kind, &o->synthetic);
    if (err == ERR_RANGE)
        return "expects 1 to 8 layers of 16 to 16384 bytes";
    return err ? "expects synthetic:greedy[:KBPS], synthetic:steady[:KBPS], synthetic:goddard or "
                 "synthetic:layers:N,BYTES"
               : NULL;
}

static const char *source_value(int i, const char **help)
{
    static const char *const list[][2] = {
        {"test:[WxH@FPS]", "the built-in moving test picture, 1280x720@30 unless said"},
        {"FILE", "a media file, at its own pace"},
        {"FOLDER", "the media files in it, each at its own path"},
        {"camera:[DEVICE]", "a camera, the first one unless said"},
        {"screen:[DISPLAY]",
         "an X display, $DISPLAY unless said; :0+X,Y with --capture: a part of it"},
        {"synthetic:greedy[:KBPS]",
         "packets without pictures, whenever the transport has room; KBPS paces udp (default "
         "1920)"},
        {"synthetic:steady[:KBPS]",
         "the same at KBPS, evenly, however long the transport keeps them waiting"},
        {"synthetic:goddard",
         "frames without pictures at the seven levels of the Goddard server, 80 to 1920 kbit/s"},
        {"synthetic:layers:N,BYTES",
         "the same of 1 to N layers (at most 8) of so many bytes, 25 frames/s"},
    };
    if (i >= (int)(sizeof(list) / sizeof(*list)))
        return NULL;
    *help = list[i][1];
    return list[i][0];
}

#define AT(member) offsetof(struct options, member)

// clang-format off
static const struct option_row rows[] = {
    {.section = "Source", .name = "source", .operand = true, .argument = "SOURCE",
     .kind = OPTION_TEXT, .at = AT(source), .read = read_source, .value = source_value,
     .fallback = "test:", .help = "what is sent"},

    {.section = "Server", .name = "listen", .argument = "ADDR:PORT", .read = read_listen,
     .fallback = "127.0.0.1:8554",
     .help = "where viewers connect; all addresses: 0.0.0.0:8554 or [::]:8554; a link-local one "
             "with its interface: [fe80::1%eth0]:8554"},
    {.name = "path", .argument = "PATH", .kind = OPTION_TEXT, .at = AT(path), .read = read_path,
     .fallback = "/live", .help = "path in the URL"},
    {.name = "mtp-port", .argument = "PORT", .kind = OPTION_INT, .at = AT(mtp_port), .least = 1,
     .most = 65535,
     .help = "TCP port of the transport mtp-raw (default: any that is free)"},
    {.name = "timeout", .argument = "SECONDS", .kind = OPTION_INT, .at = AT(timeout), .least = 1,
     .most = 3600, .fallback = "20",
     .help = "a viewer that takes nothing for so long is dropped, 1 to 3600"},

    {.name = "max-viewers", .argument = "N", .kind = OPTION_INT, .at = AT(max_viewers), .least = 1,
     .most = VIEWERS_MAX, .fallback = "1024",
     .help = "connections at once, 1 to 65535; one address may have a quarter of "
             "them, at least 4"},

    {.section = "Media", .name = "level", .argument = "WxH@FPS:KBPS", .read = read_level,
     .repeats = true,
     .help = "a quality level; repeat it for a ladder (default: seven levels, 80 to 1920 kbit/s)"},
    {.name = "temporal-layers", .argument = "N", .read = read_layers,
     .help = "2 or 3 layers of frames that can be dropped one by one (default: 2, with --prepare "
             "3)"},
    {.name = "prepare", .kind = OPTION_SWITCH, .at = AT(prepare),
     .help = "do not stream: encode FILE into FILE.weir.mkv, from which it is then streamed to "
             "many viewers without encoding; run again, it goes on where it was interrupted"},
    {.name = "loop", .kind = OPTION_SWITCH, .at = AT(loop),
     .help = "begin the file again at its end"},
    {.name = "capture", .argument = "WxH@FPS", .read = read_capture,
     .help = "size and rate asked of a camera (1280x720@30), or taken of a screen (all, 30)"},
    {.name = "list-devices", .kind = OPTION_SWITCH, .at = AT(list_devices),
     .help = "print the cameras with what they offer, and the X displays, and exit"},

    {.name = "sound", .argument = "SOUND", .kind = OPTION_TEXT, .at = AT(audio),
     .read = read_audio,
     .help = "pulse[:DEVICE], alsa[:DEVICE] or none (default: what the source has; a beep each "
             "second of test:)"},
    {.name = "sound-rate", .argument = "KBPS", .kind = OPTION_INT, .at = AT(audio_kbps),
     .least = AUDIO_MIN_BPS / 1000, .most = AUDIO_MAX_BPS / 1000, .fallback = "64",
     .help = "of the sound, in Opus, 16 to 256"},

    {.section = "Results", .name = "stats", .argument = "FILE", .kind = OPTION_FILE,
     .at = AT(stats), .help = "a JSON line a second and a viewer"},
    {.name = "metrics", .argument = "ADDR:PORT", .read = read_metrics,
     .help = "HTTP: figures for Prometheus at /metrics, a page that shows them at /"},

    OPTION_ROWS_LOG(AT(log.filter), AT(log.json), "info"),
    {.name = "quiet", .letter = 'q', .kind = OPTION_LOG_ALL, .at = AT(log.filter),
     .least = LOG_ERROR, .help = "--log error"},
    OPTION_ROWS_CONFIG,
    OPTION_ROWS_HELP,
};
// clang-format on

const struct option_table send_option_table = {
    .program = "weir-send",
    .usage = "[OPTION]... [SOURCE]",
    .brief = "stream scalable video over the transport that each viewer asks for",
    .about = "Encodes scalable layers of video and streams them to every viewer over the transport "
             "it asks for.",
    .rest = "Viewers: weir-play rtsp://127.0.0.1:8554/live, or any RTSP player; add ?level=N to "
            "the URL for\nanother level.\n"
            "\n"
            "Exit status:\n"
            "    0  stopped by a signal\n"
            "    1  cannot start\n"
            "    2  wrong usage\n",
    .rows = rows,
};

enum options_result options_parse(int argc, char **argv, struct options *o, FILE *out, FILE *err)
{
    *o = (struct options){.path = "/live",
                          .source = "test:",
                          .log = {.filter = log_all(LOG_INFO)},
                          .audio_kbps = 64,
                          .timeout = VIEWER_TIMEOUT_SEC,
                          .max_viewers = VIEWERS_DEFAULT};
    sockaddr_parse("127.0.0.1:8554", &o->listen);
    char error[1024];
    enum options_result result =
        command_line_read(&send_option_table, argc, argv, o, &o->file, out, error, sizeof(error));
    if (result == OPTIONS_BAD)
        fprintf(err, "weir-send: %s\nTry 'weir-send --help'.\n", error);
    return result;
}

void options_destroy(struct options *o)
{
    free(o->file);
    o->file = NULL;
}
