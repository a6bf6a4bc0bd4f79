// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/options/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/put.h"
#include "common/base/scan.h"
#include "common/net/udp_socket.h"
#include "common/program/url_argument.h"
#include "common/transport/transport_list.h"
#include "common/wire/request_path.h"
#include "media/audio/audio_encoder.h"
#include "media/capture/audio_open.h"
#include "media/capture/source_capture.h"
#include "media/encode/video_engine.h"
#include "media/record/policy/record_name.h"
#include "media/source/audio_source.h"
#include "media/source/media_input.h"
#include "media/stored/stored_x265.h"
#include "server/options/server_options.h"

#define RECORD_SEGMENT_MIN (2 * USEC_PER_SEC)
#define REWIND_MAX         (24 * 3600 * USEC_PER_SEC)
#define REWIND_BYTES       256000000

static const char *read_hook(void *options, const char *value, char *reason, size_t cap)
{
    return hook_specs_add(&((struct options *)options)->hooks, value, reason, cap);
}

static const char *read_path(void *options, const char *value, char *reason, size_t cap)
{
    (void)options, (void)reason, (void)cap;
    static const char allowed[] =
        "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-";
    char path[200];
    size_t len = strlen(value);
    bool good = value[0] == '/' && len > 1 && len < sizeof(path) && value[len - 1] != '/' &&
                strspn(value, allowed) == len &&
                request_path_decode(value, path, sizeof(path)) == 0;
    return good ? NULL
                : "expects a path such as /live: letters, digits and ._~-/, without "
                  "a slash at its end, a name that begins with a dot, or an empty one";
}

static const char *read_level(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct options *o = options;
    if (o->in_section && !o->has_levels) { // a section's levels replace those of all sources
        o->has_levels = true;
        o->level_count = 0;
    }
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

static const char *read_layers(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct options *o = options;
    o->temporal_layers = atoi(value);
    return strcmp(value, "2") == 0 || strcmp(value, "3") == 0 ? NULL : "expects 2 or 3";
}

static const char *read_ladder(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct options *o = options;
    o->has_ladder = true;
    o->fixed_ladder = strcmp(value, "fixed") == 0;
    return o->fixed_ladder || strcmp(value, "content") == 0 ? NULL : "expects content or fixed";
}

static const char *read_codec(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct options *o = options;
    o->has_codec = true;
    o->codec = strcmp(value, "vp9") == 0    ? SDP_VP9
               : strcmp(value, "hevc") == 0 ? SDP_HEVC
                                            : SDP_H264;
    return o->codec != SDP_H264 || strcmp(value, "h264") == 0 ? NULL : "expects h264, hevc or vp9";
}

static const char *read_encoder(void *options, const char *value, char *reason, size_t cap)
{
    (void)options;
    struct put put = put_into(reason, cap);
    if (strcmp(value, "auto") == 0 || strcmp(value, "list") == 0 || video_engine_find(value))
        return NULL;
    put_format(&put, "expects auto, list");
    for (int i = 0; video_engine_at(i); i++)
        put_format(&put, "%s %s", video_engine_at(i + 1) ? "," : " or", video_engine_at(i)->name);
    return reason;
}

static const struct option_word ladder_words[] = {
    {"content", "sizes and rates that the film needs, of which excerpts are measured"},
    {"fixed", "the same levels for all films of a size"},
    {NULL, NULL},
};

static const char *encoder_value(int i, const char **help)
{
    static const char *const list[][2] = {
        {"auto", "x264; if this machine encodes less than the source with it, a graphics chip that "
                 "is usable"},
        {"list", "list those that are usable here, and exit"},
    };
    if (i < 2) {
        *help = list[i][1];
        return list[i][0];
    }
    const struct video_engine *engine = video_engine_at(i - 2);
    *help = engine ? engine->help : NULL;
    return engine ? engine->name : NULL;
}

static const char *read_profile(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct options *o = options;
    o->baseline = strcmp(value, "baseline") == 0;
    return o->baseline || strcmp(value, "high") == 0 ? NULL : "expects high or baseline";
}

static const struct option_word profile_words[] = {
    {"high", "the better picture; browsers accept it behind a server that announces baseline"},
    {"baseline", "constrained baseline (42e0), which everything decodes: for WebRTC and old "
                 "devices"},
    {NULL, NULL},
};

static const struct option_word codec_words[] = {
    {"h264", "each size has an encoder of its own"},
    {"hevc", "with --prepare alone: x265, in two temporal layers; for weir-play and ffplay, but "
             "no browser"},
    {"vp9", "one encoder of three sizes, each half as wide and high as the next: a larger "
            "size adds to the smaller ones"},
    {NULL, NULL},
};

static const char *read_capture(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct options *o = options;
    o->has_capture = true;
    return geometry_parse(value, &o->capture) == 0
               ? NULL
               : "expects WIDTHxHEIGHT@FPS, such as 1920x1080@30; " GEOMETRY_RULE;
}

static const char *read_audio(void *options, const char *value, char *reason, size_t cap)
{
    (void)options, (void)reason, (void)cap;
    return audio_source_is_name(value) ? NULL
                                       : "expects track:N, track:LANGUAGE, pulse[:DEVICE], "
                                         "alsa[:DEVICE] or none";
}

static const char *read_record(void *options, const char *value, char *reason, size_t cap)
{
    (void)options, (void)reason, (void)cap;
    char path[PATH_MAX];
    if (record_name_expand(value, "name", path, sizeof(path)) == ERR_FULL)
        return "expects a shorter path";
    return record_name_fault(path);
}

static const char *read_record_segment(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct options *o = options;
    return record_duration_parse(value, &o->record_segment) == 0 &&
                   o->record_segment >= RECORD_SEGMENT_MIN
               ? NULL
               : "expects a duration of at least 2s, such as 90s, 10m, 1h or 1d";
}

static const char *read_rewind(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason;
    (void)cap;
    struct record_keep *keep = &((struct options *)options)->rewind;
    if (record_keep_parse(value, keep) != 0 || !keep->age || keep->age > REWIND_MAX)
        return "expects TIME or TIME,SIZE, such as 60s or 10m,500MB; at most 24h";
    keep->bytes = keep->bytes ? keep->bytes : REWIND_BYTES;
    return NULL;
}

static const char *read_record_keep(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    return record_keep_parse(value, &((struct options *)options)->record_keep) == 0
               ? NULL
               : "expects an age, a size or both, such as 7d,20GB: a whole number and s, m, h or "
                 "d; MB, GB or TB";
}

static const char *read_push(void *options, const char *value, char *reason, size_t cap)
{
    struct options *o = options;
    char line[URL_ARGUMENT_MAX];
    const char *why, *url = url_argument_read(value, line);
    if (!url)
        return "cannot read a URL from that file";
    if (url_parse(url, &o->push, &why) == 0 && !url_is_root(&o->push))
        return NULL;
    o->push.text[0] = '\0';
    snprintf(reason, cap,
             "expects rtsp://[USER:PASSWORD@]HOST[:PORT]/PATH, or @FILE with that line");
    return reason;
}

// A server of others knows plain RTP alone, whose rate no reports of each packet control.
static const char *read_push_transports(void *options, const char *value, char *reason, size_t cap)
{
    struct options *o = options;
    const struct transport_kind *kind;
    const char *params;
    if (transport_list_split(value, &o->push_transports) != 0)
        return "expects a list of minbuf, tcp and udp";
    for (int i = 0; i < o->push_transports.count; i++) {
        int err = transport_find(o->push_transports.names[i], &kind, &params);
        if (err || !kind->plain_rtp || kind->responsive || o->push_transports.any) {
            snprintf(reason, cap, "'%s' is no transport of plain RTP: expects minbuf, tcp or udp",
                     o->push_transports.any ? "auto" : o->push_transports.names[i]);
            return reason;
        }
    }
    return NULL;
}

static const char *read_push_audio(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct options *o = options;
    return push_audio_parse(value, &o->push_audio) == 0 ? NULL : "expects opus, aac or both";
}

static const struct option_word push_audio_words[] = {
    {"opus", "Opus, as viewers receive it"},
    {"aac", "AAC-LC, transcoded from it"},
    {NULL, NULL},
};

static const struct option_word push_transport_words[] = {
    {"minbuf", "over the RTSP connection, with a short send buffer; minbuf:A,B or minbuf:auto,MS"},
    {"tcp", "over the RTSP connection, with the kernel's own send buffer"},
    {"udp", "datagrams; the encoder follows the server's receiver reports"},
    {NULL, NULL},
};

// Parses "greedy[:KBPS]" or "steady[:KBPS]". Returns NULL, or the error.
static const char *parse_filler(const char *text, struct options *o)
{
    o->steady = strncmp(text, "steady", 6) == 0;
    struct scan rest = scan_of(text + 6, strlen(text + 6));
    int64_t kbps = 1920;
    bool given = scan_char(&rest, ':');
    if ((given && !scan_int(&rest, 2000000, &kbps)) || !scan_end(&rest) || kbps < 8)
        return "expects synthetic:greedy[:KBPS] or synthetic:steady[:KBPS], KBPS from 8 to 2000000";
    o->filler_bps = (int)kbps * 1000;
    return NULL;
}

bool options_is_synthetic(const struct options *o)
{
    return o->filler_bps || o->synthetic.kind != SDP_SOURCE_UNKNOWN;
}

static bool is_test(const char *source)
{
    return strncmp(source, "test:", 5) == 0;
}

// Returns true if the source's H.264 is passed on unless --transcode is given.
static bool is_passed(const char *source)
{
    return strcmp(source, SOURCE_PUBLISHED) == 0 || url_scheme(source) ||
           media_input_is_pipe(source);
}

// Parses "test:..." and "synthetic:...", and accepts any other source. Returns NULL, or the error.
static const char *parse_source(struct options *o, const char *value)
{
    o->source = value;
    o->filler_bps = 0;
    o->synthetic = (struct synthetic){0};
    struct geometry test;
    if (is_test(value) && value[5] && geometry_parse(value + 5, &test) != 0)
        return "expects test:WIDTHxHEIGHT@FPS, such as test:1280x720@30; " GEOMETRY_RULE;
    if (strncmp(value, "synthetic:", 10) != 0)
        return NULL;
    const char *kind = value + 10;
    bool filler = strncmp(kind, "greedy", 6) == 0 || strncmp(kind, "steady", 6) == 0;
    if (filler && (!kind[6] || kind[6] == ':'))
        return parse_filler(kind, o);
    int err = synthetic_parse(kind, &o->synthetic);
    if (err == ERR_RANGE)
        return "expects 1 to 8 layers of 16 to 16384 bytes, at 1 to 1000 frames/s";
    return err ? "expects synthetic:greedy[:KBPS], synthetic:steady[:KBPS], synthetic:goddard or "
                 "synthetic:layers:N,BYTES[,FPS]"
               : NULL;
}

// Returns the length of the name before the source; 0: none. The name of a file may look like that.
static size_t name_length(const char *value)
{
    return access(value, F_OK) == 0 ? 0 : source_name_length(value);
}

static const char *read_source(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct options *o = options;
    if (o->in_section) {
        bool again = o->has_source;
        o->has_source = true;
        return again ? "is the section's second source: it has one" : parse_source(o, value);
    }
    if (o->given_count == SOURCES_MAX)
        return "is one too many: at most 16 sources";
    o->given[o->given_count++] = value;
    size_t len = name_length(value);
    return parse_source(o, len ? value + len + 1 : value);
}

static const char *read_publish(void *options, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    struct options *o = options;
    if (!source_publish_is(value))
        return "expects a path such as /cam or /cams/front, of names with 1 to 32 letters, digits, "
               "'_' and '-'; * instead of the last one is each name";
    if (o->publish_count == SOURCES_MAX)
        return "is one too many: at most 16 paths";
    o->publish[o->publish_count++] = value;
    return NULL;
}

// ---- Several sources

// Returns the source of that name in `list`, or NULL.
static struct options *find_source(struct options *list, int count, const char *name, size_t len)
{
    for (int i = 0; i < count; i++)
        if (strlen(list[i].mount) == len + 1 && memcmp(list[i].mount + 1, name, len) == 0)
            return &list[i];
    return NULL;
}

// Adds a copy of the options that all sources have in common. NULL: no memory.
static struct options *add_source(const struct options *o, struct options **list, int *count,
                                  const char *name, size_t len)
{
    struct options *longer = realloc(*list, (size_t)(*count + 1) * sizeof(**list));
    if (!longer)
        return NULL;
    *list = longer;
    struct options *one = &longer[(*count)++];
    *one = *o;
    one->file = one->record_own = one->source_own = NULL;
    one->sources = one->sections = NULL;
    one->source_count = one->section_count = one->given_count = 0;
    snprintf(one->mount, sizeof(one->mount), "/%.*s", (int)len, name);
    return one;
}

static void *begin_section(void *options, const char *name, char *reason, size_t cap)
{
    struct options *o = options;
    size_t len = strlen(name);
    struct options *one = find_source(o->sections, o->section_count, name, len);
    if (one)
        return one;
    if (!source_name_is(name, len))
        snprintf(reason, cap, "\"%s\" is no name of a source: expects " SOURCE_NAME_RULE, name);
    else if (o->section_count == SOURCES_MAX)
        snprintf(reason, cap, "at most %d sources", SOURCES_MAX);
    else if (!(one = add_source(o, &o->sections, &o->section_count, name, len)))
        snprintf(reason, cap, "out of memory");
    if (one)
        one->in_section = true;
    return one;
}

// Returns what of a source without name may be shown: not the password of a camera.
static const char *shown(const char *value)
{
    const char *at = url_scheme(value) ? strrchr(value, '@') : NULL;
    return at ? at : value;
}

// Makes a source of "NAME=SOURCE", and of what a section says of that name. Returns 0, or
// ERR_MALFORMED.
static int make_source(struct options *o, const char *value, char *error, size_t cap)
{
    size_t len = name_length(value);
    if (!len)
        return err_say(error, cap, ERR_MALFORMED,
                       "SOURCE '%s' has no name; several sources have one each, such as front=%s",
                       shown(value), shown(value));
    if (find_source(o->sources, o->source_count, value, len))
        return err_say(error, cap, ERR_MALFORMED, "two sources are called '%.*s'", (int)len, value);
    struct options *section = find_source(o->sections, o->section_count, value, len);
    if (section && section->has_source)
        return err_say(error, cap, ERR_MALFORMED, "two sources are called '%.*s'", (int)len, value);
    struct options *one =
        add_source(section ? section : o, &o->sources, &o->source_count, value, len);
    if (!one)
        return err_say(error, cap, ERR_MALFORMED, "out of memory");
    (void)parse_source(one, value + len + 1); // the value was read before
    return 0;
}

// Makes a source of a path to which clients publish. Returns 0, or ERR_MALFORMED.
static int make_published(struct options *o, const char *path, char *error, size_t cap)
{
    const char *name = path + 1;
    size_t len = strlen(name);
    if (find_source(o->sources, o->source_count, name, len))
        return err_say(error, cap, ERR_MALFORMED, "two sources are at '%s'", path);
    if (o->source_count == SOURCES_MAX)
        return err_say(error, cap, ERR_MALFORMED, "at most %d sources", SOURCES_MAX);
    struct options *section = find_source(o->sections, o->section_count, name, len);
    struct options *one =
        add_source(section ? section : o, &o->sources, &o->source_count, name, len);
    if (!one)
        return err_say(error, cap, ERR_MALFORMED, "out of memory");
    one->source = SOURCE_PUBLISHED;
    if (one->record && source_publish_is_any(path))
        return err_say(error, cap, ERR_MALFORMED,
                       "--record conflicts with --publish %s: give it in the section of another "
                       "source",
                       path);
    return 0;
}

// Puts the source's name into that of its recording. Returns 0, or ERR_MALFORMED.
static int name_recording(struct options *one, char *error, size_t cap)
{
    char path[PATH_MAX];
    int err = one->record ? record_name_expand(one->record, one->mount + 1, path, sizeof(path))
                          : ERR_NOT_FOUND;
    if (err == ERR_NOT_FOUND)
        return 0;
    one->record_own = err ? NULL : strdup(path);
    one->record = one->record_own;
    return one->record ? 0
                       : err_say(error, cap, ERR_MALFORMED,
                                 "--record of '%s': the path is too long", one->mount + 1);
}

// Makes `sources` of the operands and the sections. A section without a source of its own changes
// the operand of its name. Returns 0, or ERR_MALFORMED.
static int make_sources(struct options *o, char *error, size_t cap)
{
    bool is_one = o->given_count == 1 && !o->publish_count && !name_length(o->given[0]);
    for (int i = 0; i < o->section_count; i++)
        is_one = is_one && !o->sections[i].has_source;
    if (is_one || o->given_count + o->section_count + o->publish_count == 0)
        return 0;
    int err = 0;
    for (int i = 0; i < o->given_count && !err; i++)
        err = make_source(o, o->given[i], error, cap);
    for (int i = 0; i < o->section_count && !err; i++) {
        const struct options *s = &o->sections[i];
        const char *name = s->mount + 1;
        if (!s->has_source && o->given_count + o->publish_count == 0)
            return err_say(error, cap, ERR_MALFORMED, "[source %s] expects a line source = SOURCE",
                           name);
        if (s->has_source && o->source_count == SOURCES_MAX)
            return err_say(error, cap, ERR_MALFORMED, "at most %d sources", SOURCES_MAX);
        if (s->has_source && !add_source(s, &o->sources, &o->source_count, name, strlen(name)))
            return err_say(error, cap, ERR_MALFORMED, "out of memory");
    }
    for (int i = 0; i < o->publish_count && !err; i++)
        err = make_published(o, o->publish[i], error, cap);
    for (int i = 0; i < o->source_count && !err; i++) { // where they stay
        o->sources[i].path = o->sources[i].mount;
        err = name_recording(&o->sources[i], error, cap);
    }
    return err;
}

static const struct option_word source_words[] = {
    {"test:[WxH@FPS]", "the built-in moving test picture (default 1280x720@30)"},
    {"FILE", "a media file, at its own pace"},
    {"FOLDER", "the media files in a folder, each at its own path"},
    {"camera:[DEVICE]", "a camera (default: the first one)"},
    {"rtsp://[USER:PASSWORD@]HOST[:PORT]/PATH", "an IP camera; its H.264 is passed on as it is. "
                                                "MAIN|SUB, two such URLs of one camera, are two "
                                                "levels"},
    {"screen:[DISPLAY]", "an X display (default: $DISPLAY); :0+X,Y with --capture: a part of it"},
    {"synthetic:greedy[:KBPS]",
     "packets without pictures, as fast as the transport accepts them; KBPS is the rate of "
     "udp (default 1920)"},
    {"synthetic:steady[:KBPS]",
     "packets without pictures at a constant KBPS, even if the transport delays them"},
    {"synthetic:goddard",
     "frames without pictures at the seven levels of the Goddard server, 80 to 1920 kbit/s"},
    {"synthetic:layers:N,BYTES[,FPS]",
     "frames without pictures of 1 to N layers (at most 8) of BYTES each, 25 frames/s"},
    {NULL, NULL},
};

#define AT(member)      offsetof(struct options, member)
#define PUSH_TRANSPORTS "minbuf,udp"
#define PUSH_AUDIO      "opus,aac"

// clang-format off
static const struct option_row rows[] = {
    {.section = "Source", .name = "source", .operand = true, .argument = "SOURCE", .repeats = true,
     .in_section = true, .hides_user = true, .read = read_source, .words = source_words,
     .fallback = "test:",
     .help = "the media to stream. Several sources have names, front=camera: film=FILE, and are "
             "at rtsp://HOST/front and rtsp://HOST/film"},

    SERVER_ROWS_LISTEN(struct options, "Server"),
    {.name = "path", .argument = "PATH", .kind = OPTION_TEXT, .at = AT(path), .read = read_path,
     .fallback = "/live", .help = "path in the URL"},
    {.name = "publish", .argument = "PATH", .read = read_publish, .repeats = true,
     .help = "let clients publish to this path by RTSP (ANNOUNCE, RECORD), as ffmpeg -f rtsp does: "
             "viewers find it while one does. /cams/* is each path below /cams; repeat it for more, at "
             "most 16"},
    {.name = "take-over", .kind = OPTION_SWITCH, .at = AT(take_over),
     .help = "replace the client of a path when a second one publishes to it; viewers continue "
             "(default: the second client gets 503)"},
    {.name = "mtp-port", .argument = "PORT", .kind = OPTION_INT, .at = AT(mtp_port), .min = 1,
     .max = 65535,
     .help = "TCP port of the transport mtp-raw (default: any free port)"},
    SERVER_ROWS_VIEWERS(struct options,
                        "; a film's after 60 s at least, as it plays from its buffer"),
    {.name = "fragment", .argument = "BYTES", .kind = OPTION_INT, .at = AT(fragment),
     .min = FRAGMENT_MIN, .max = FRAGMENT_MAX,
     .help = "cut frames into packets with at most so many bytes of the frame, 200 to 1400 (default: "
             "as many as fit into a packet of the path)"},
    {.name = "srtp", .kind = OPTION_SWITCH, .at = AT(srtp),
     .help = "send datagrams as SRTP only, even where RTSP is not encrypted; then the keys can be read on the network: for "
             "tests"},
    SERVER_ROWS_OTHERS(struct options, ", and of the connections and waiting requests of --http",
                       ", over --http, too, show its pictures"),
    {.name = "http", .argument = "ADDR:PORT", .at = AT(http),
     .read = server_options_read_address,
     .help = "serve HLS and DASH, which the RTSP port has at /live/index.m3u8 and index.mpd, to HTTP "
             "caches at this address, too. It has neither encryption nor keys: off the loopback it "
             "requires --insecure"},
    {.name = "http-segment", .argument = "SECONDS", .kind = OPTION_INT, .at = AT(http_segment),
     .min = 1, .max = 10, .help = "length of the segments of HLS and DASH, 1 to 10 (default 2)"},

    {.name = "on", .argument = "HOOK", .read = read_hook, .repeats = true,
     .help = "run a command when something happens: \"EVENT COMMAND ARGUMENT...\", EVENT one of "
             "source-lost, source-back, viewer, viewer-gone, recording-closed, published, unpublished; it finds "
             "WEIR_EVENT, WEIR_SUBJECT, WEIR_REASON and WEIR_TIME in its environment; at most 16"},

    {.section = "Push", .name = "push", .argument = "URL", .read = read_push, .hides_user = true,
     .help = "also send the stream to this RTSP server, which records it or hands it on: "
             "rtsp://[USER:PASSWORD@]HOST[:PORT]/PATH, or @FILE, a file whose first line is the URL"},
    {.name = "push-transport", .argument = "LIST", .read = read_push_transports,
     .words = push_transport_words, .fallback = PUSH_TRANSPORTS,
     .help = "transports of --push in order of preference"},
    {.name = "push-audio", .argument = "LIST", .read = read_push_audio, .words = push_audio_words,
     .fallback = PUSH_AUDIO,
     .help = "audio codecs of --push in order of preference: the next when the server refuses one"},
    {.name = "push-level", .argument = "N", .kind = OPTION_INT, .at = AT(push_level), .min = 0,
     .max = LADDER_MAX_LEVELS - 1,
     .help = "the highest level of --push; all that is pushed has its size (default: the highest "
             "of all)"},

    {.section = "Recording", .name = "record", .in_section = true, .argument = "FILE.mkv", .kind = OPTION_FILE,
     .at = AT(record), .read = read_record,
     .help = "also record the stream, as it is encoded, in its largest size: "
             "'DIR/%Y-%m-%d_%H-%M-%S.mkv', with the local time in place of %Y (year), %m, %d, %H, %M "
             "and %S, and the source's name in place of %N. If a file of that name exists, +2, +3 ... is "
             "added"},
    {.name = "record-segment", .in_section = true, .argument = "TIME", .read = read_record_segment,
     .help = "begin another file after this time: 90s, 10m, 1h, 1d; at least 2s (default: one file)"},
    {.name = "record-keep", .in_section = true, .argument = "AGE,SIZE", .read = read_record_keep,
     .help = "delete the oldest files whose names --record may have given: those older than AGE (12h, "
             "7d) and, while all together have more than SIZE (500MB, 20GB, 1TB), the oldest; either "
             "may be left out"},

    {.section = "Media", .name = "level", .in_section = true, .argument = "WxH@FPS:KBPS", .read = read_level,
     .repeats = true,
     .help = "a quality level; repeat it for a ladder (default: seven levels, 80 to 1920 kbit/s, and "
             "above them the source's own size and rate, if this machine can encode it)"},
    {.name = "codec", .in_section = true, .argument = "CODEC", .read = read_codec, .words = codec_words,
     .fallback = "h264",
     .help = "how pictures are encoded; with vp9 there are nine levels, three sizes of three "
             "temporal layers, and --level may give the top one"},
    {.name = "encoder", .in_section = true, .argument = "ENCODER", .kind = OPTION_TEXT,
     .at = AT(encoder), .read = read_encoder, .value = encoder_value, .fallback = "auto",
     .help = "what encodes live H.264. Others than x264 have no temporal layers: there are four "
             "levels, and a lost frame needs a key frame"},
    {.name = "profile", .in_section = true, .argument = "PROFILE", .read = read_profile, .words = profile_words,
     .fallback = "high", .help = "H.264 profile of live pictures"},
    {.name = "no-passthrough", .in_section = true, .kind = OPTION_SWITCH, .at = AT(no_pass),
     .help = "encode the source's own size, too. Otherwise H.264 of a file whose structure allows it "
             "is sent as it is, as the top level"},
    {.name = "passthrough-rate", .in_section = true, .argument = "KBPS", .kind = OPTION_INT,
     .at = AT(pass_kbps), .min = 100, .max = 2000000, .fallback = "100000",
     .help = "the highest rate of a file's own H.264 that is sent as it is"},
    {.name = "temporal-layers", .in_section = true, .argument = "N", .read = read_layers,
     .help = "number of temporal layers, 2 or 3, which can be dropped one by one (default: 2, with "
             "--prepare 3)"},
    {.name = "keep-levels", .in_section = true, .kind = OPTION_SWITCH, .at = AT(keep_levels),
     .help = "encode all frames of the levels that are watched on a machine that does not keep up, "
             "too: they come late, or not at all. Otherwise live media then has fewer frames, and "
             "smaller pictures"},
    {.name = "prepare", .kind = OPTION_SWITCH, .at = AT(prepare),
     .help = "do not stream: encode FILE, or each film of FOLDER that is not up to date, into "
             "FILE.weir.mkv, which weir-send then streams to many viewers without encoding; a "
             "second run continues an interrupted one"},
    {.name = "ladder", .argument = "LADDER", .read = read_ladder, .words = ladder_words,
     .fallback = "content", .help = "how --prepare chooses the levels of a film, without --level"},
    {.name = "loop", .in_section = true, .kind = OPTION_SWITCH, .at = AT(loop),
     .help = "start the file again at its end"},
    {.name = "transcode", .in_section = true, .kind = OPTION_SWITCH, .at = AT(transcode),
     .help = "encode the pictures of an IP camera or a pipe again, in several levels; without it they "
             "are passed on as they are, as the only level"},
    {.name = "wait", .in_section = true, .kind = OPTION_SWITCH, .at = AT(wait),
     .help = "when the program ends that writes into SOURCE, a FIFO, wait for the next one; viewers "
             "stay. Of several sources each FIFO does"},
    {.name = "rewind", .in_section = true, .argument = "TIME,SIZE", .read = read_rewind,
     .help = "keep so much of live video in memory, so that viewers can go back: 60s, 10m, 2h; of SIZE "
             "(default 256MB) at most, and the oldest leaves first. A key frame is sent every 5 s"},
    {.name = "capture", .in_section = true, .argument = "WxH@FPS", .read = read_capture,
     .help = "requested size and rate of a camera (default 1280x720@30) or a screen (default: "
             "all of it, 30)"},
    {.name = "list-devices", .kind = OPTION_SWITCH, .at = AT(list_devices),
     .help = "list the cameras with their modes, and the X displays, and exit"},

    {.name = "sound", .in_section = true, .argument = "SOUND", .kind = OPTION_TEXT, .at = AT(audio),
     .read = read_audio,
     .help = "audio source: track:2 or track:LANGUAGE for another track of a film, pulse[:DEVICE], "
             "alsa[:DEVICE] or none (default: the audio of SOURCE; test: has a beep each second)"},
    {.name = "sound-rate", .in_section = true, .argument = "KBPS", .kind = OPTION_INT, .at = AT(audio_kbps),
     .min = AUDIO_MIN_BPS / 1000, .max = AUDIO_MAX_BPS / 1000, .fallback = "64",
     .help = "bitrate of the audio (Opus), 16 to 256"},
    {.name = "center-mix-level", .in_section = true, .argument = "DB", .kind = OPTION_INT,
     .at = AT(mix.centre_db), .min = AUDIO_MIX_OFF, .max = AUDIO_MIX_MAX, .fallback = "-3",
     .help = "level of the centre channel (speech) where a film's audio of more channels becomes "
             "stereo; 0 is that of the left one"},
    {.name = "surround-mix-level", .in_section = true, .argument = "DB", .kind = OPTION_INT,
     .at = AT(mix.surround_db), .min = AUDIO_MIX_OFF, .max = AUDIO_MIX_MAX, .fallback = "-3",
     .help = "the same of the surround channels"},
    {.name = "lfe-mix-level", .in_section = true, .argument = "DB", .kind = OPTION_INT,
     .at = AT(mix.lfe_db), .min = AUDIO_MIX_OFF, .max = AUDIO_MIX_MAX, .fallback = "-60",
     .help = "the same of the low-frequency channel; -60 leaves it out"},

    SERVER_ROWS_ACCESS(struct options, "access"),
    SERVER_ROWS_RESULTS(struct options),
    {.name = "control", .kind = OPTION_SWITCH, .at = AT(control),
     .help = "at the address of --metrics, let the bearers of a key of --invite control list and "
             "end sessions, set their levels, change sources with names, and make keys"},

    SERVER_ROWS_GENERAL(struct options),
};
// clang-format on

const struct option_table send_option_table = {
    .program = "weir-send",
    .usage = "[OPTION]... [[NAME=]SOURCE]...",
    .brief = "stream scalable video over the transport that each viewer requests",
    .about = "Encodes scalable layers of video and streams them to every viewer over the transport "
             "that it requests.",
    .rest = "Viewers: weir-play rtsp://127.0.0.1:8554/live, or any RTSP player; add ?level=N to "
            "the URL for\nanother level.\n"
            "\n"
            "Exit status:\n"
            "    0  stopped by a signal\n"
            "    1  cannot start\n"
            "    2  wrong usage\n",
    .rows = rows,
    .section = begin_section,
};

// Returns why an option is of no use for sources with names; NULL: all are.
static const char *conflict_of_several(const struct options *o)
{
    if (strcmp(o->path, "/live") != 0)
        return "--path conflicts with a source that has a name, which is its path";
    if (o->push.text[0])
        return "--push expects one source without a name: it pushes one stream";
    if (o->http.ss_family != AF_UNSPEC)
        return "--http expects one source without a name: it serves one (the RTSP port serves HLS "
               "and DASH of all)";
    if (o->prepare)
        return "--prepare expects one FILE without a name";
    return NULL;
}

static const char *conflict_of_hevc(const struct options *o)
{
    if (o->http.ss_family != AF_UNSPEC)
        return "--http conflicts with --codec hevc: it serves H.264";
    if (o->baseline)
        return "--codec hevc conflicts with --profile baseline, which is H.264's";
    if (options_is_synthetic(o))
        return "--codec hevc conflicts with a synthetic source, which has no pictures";
    if (o->temporal_layers > STORED_X265_LAYERS)
        return "--codec hevc conflicts with --temporal-layers 3: it has at most two";
    if (o->prepare && !stored_x265_is_usable())
        return "--codec hevc requires a libavcodec with libx265, which this one lacks";
    return NULL;
}

bool options_names_engine(const struct options *o)
{
    return strcmp(o->encoder, "auto") != 0 && strcmp(o->encoder, "x264") != 0 &&
           strcmp(o->encoder, "list") != 0;
}

// Returns why the recordings of several sources conflict; NULL: they do not.
static const char *conflict_of_recordings(const struct options *o)
{
    bool records = false;
    for (int i = 0; i < o->source_count; i++)
        records = records || o->sources[i].record;
    if (!records && o->record_segment)
        return "--record-segment requires --record FILE.mkv";
    if (!records && record_keep_has_limit(&o->record_keep))
        return "--record-keep requires --record FILE.mkv";
    for (int i = 0; i < o->source_count; i++)
        for (int k = 0; k < i; k++)
            if (o->sources[i].record && o->sources[k].record &&
                strcmp(o->sources[i].record, o->sources[k].record) == 0)
                return "--record of several sources requires %N, the source's name, such as "
                       "'DIR/%N_%Y-%m-%d_%H-%M-%S.mkv', or a line record = FILE.mkv in the section "
                       "of each";
    return NULL;
}

// Returns why an option of streaming is of no use for --prepare; NULL: none is given.
static const char *conflict_of_prepare(const struct options *o)
{
#define CONFLICT(name) name " conflicts with --prepare, which does not stream"
    const struct {
        bool is_given;
        const char *error;
    } conflicts[] = {
        {o->push.text[0], CONFLICT("--push")},
        {o->record, CONFLICT("--record")},
        {o->rewind.age, CONFLICT("--rewind")},
        {o->fragment, CONFLICT("--fragment")},
        {o->http.ss_family != AF_UNSPEC, CONFLICT("--http")},
        {o->metrics.ss_family != AF_UNSPEC, CONFLICT("--metrics")},
        {o->stats, CONFLICT("--stats")},
        {o->loop, CONFLICT("--loop")},
        {o->has_capture, CONFLICT("--capture")},
        {strcmp(o->path, "/live") != 0, CONFLICT("--path")},
    };
#undef CONFLICT
    for (size_t i = 0; i < sizeof(conflicts) / sizeof(*conflicts); i++)
        if (conflicts[i].is_given)
            return conflicts[i].error;
    return NULL;
}

// Returns why options of one source conflict; NULL: they do not.
static const char *conflict(const struct options *o)
{
    bool is_pushed = o->push.text[0];
    bool is_synthetic = options_is_synthetic(o);
    if (access_options_conflict(&o->who))
        return access_options_conflict(&o->who);
    if (!is_pushed && o->push_transports.count)
        return "--push-transport requires --push URL";
    if (!is_pushed && o->push_audio.count)
        return "--push-audio requires --push URL";
    if (!is_pushed && o->push_level >= 0)
        return "--push-level requires --push URL";
    if (o->take_over && !o->publish_count)
        return "--take-over requires --publish PATH";
    if (o->control && o->metrics.ss_family == AF_UNSPEC)
        return "--control requires --metrics ADDR:PORT";
    if (o->has_ladder && !o->prepare)
        return "--ladder requires --prepare";
    if (o->has_ladder && o->level_count)
        return "--ladder conflicts with --level, which gives the levels";
    if (o->prepare && conflict_of_prepare(o))
        return conflict_of_prepare(o);
    if (is_pushed && is_synthetic)
        return "--push conflicts with a synthetic source, which has no pictures";
    bool is_named = *o->mount; // of several, those are recorded that have a name to record to
    if (!o->record && !is_named && o->record_segment)
        return "--record-segment requires --record FILE.mkv";
    if (!o->record && !is_named && record_keep_has_limit(&o->record_keep))
        return "--record-keep requires --record FILE.mkv";
    if (o->record && record_name_fault(o->record))
        return "--record has %N, the name of a source, but this one has none (NAME=SOURCE)";
    if (o->record && (o->record_segment || record_keep_has_limit(&o->record_keep)) &&
        !record_name_has_time(o->record))
        return "--record-segment and --record-keep require a name with the time in it, such as "
               "--record 'DIR/%Y-%m-%d_%H-%M-%S.mkv'";
    if (o->record && is_synthetic)
        return "--record conflicts with a synthetic source, which has no pictures";
    if (o->fragment && o->filler_bps)
        return "--fragment conflicts with a synthetic source that has packets without frames";
    bool has_http = o->http.ss_family != AF_UNSPEC;
    if (!o->tls_cert != !o->tls_key)
        return "--tls-cert requires --tls-key, and the other way round";
    if (has_http && is_synthetic)
        return "--http conflicts with a synthetic source, which has no pictures";
    if (has_http && !sockaddr_is_loopback((const struct sockaddr *)&o->http) && !o->who.insecure)
        return "--http off the loopback requires --insecure: it is not encrypted and asks for no "
               "key. Or give it 127.0.0.1:PORT, and put a server with TLS and passwords before it";
    if (has_http && (o->who.file || o->who.service))
        return "--http conflicts with --access and --access-http: it asks for no key and no "
               "password, so it would "
               "give everybody what --access protects. Leave out one of them; the RTSP port serves "
               "HLS and DASH, too, and asks";
    if (has_http && o->codec == SDP_VP9)
        return "--http conflicts with --codec vp9: it serves H.264";
    bool encodes = o->level_count || o->temporal_layers || o->baseline || o->codec != SDP_H264;
    if (is_passed(o->source) && !o->transcode && encodes)
        return "--level, --temporal-layers, --profile and --codec require --transcode with an IP "
               "camera and with a pipe, whose H.264 is passed on as it is (or give them in the "
               "section of another source)";
    if (o->baseline && o->prepare)
        return "--profile baseline conflicts with --prepare, which encodes in the high profile";
    if (o->codec != SDP_H264 && (options_names_engine(o) || strcmp(o->encoder, "x264") == 0))
        return "--encoder conflicts with --codec vp9 and hevc: it chooses the encoder of H.264";
    if (options_names_engine(o)) {
        if (o->prepare)
            return "--encoder conflicts with --prepare, which encodes with x264";
        if (o->baseline)
            return "--profile baseline requires --encoder x264 or auto";
        if (o->temporal_layers)
            return "--temporal-layers requires --encoder x264 or auto: the others have no layers";
        if (is_synthetic)
            return "--encoder conflicts with a synthetic source, which has no pictures";
    }
    if (o->prepare && (is_synthetic || is_test(o->source) || source_is_capture(o->source) ||
                       is_passed(o->source)))
        return "--prepare requires FILE or FOLDER";
    if (o->codec == SDP_HEVC)
        return conflict_of_hevc(o);
    if (o->codec != SDP_VP9)
        return NULL;
    if (o->baseline)
        return "--codec vp9 conflicts with --profile baseline, which is H.264's";
    if (o->prepare)
        return "--codec vp9 conflicts with --prepare, which encodes H.264 or HEVC";
    if (is_synthetic)
        return "--codec vp9 conflicts with a synthetic source, which has no pictures";
    if (o->temporal_layers)
        return "--codec vp9 conflicts with --temporal-layers: it has three";
    if (o->level_count > 1)
        return "--codec vp9 conflicts with more than one --level: the smaller levels follow from "
               "the top one";
    return NULL;
}

// Returns why an option of a single source is of no use for it; NULL: all are. Of several sources
// each may need what stands before the first section.
static const char *conflict_of_one(const struct options *o)
{
    bool is_synthetic = options_is_synthetic(o);
    if (o->transcode && !is_passed(o->source))
        return "--transcode requires an IP camera, rtsp://..., or a pipe as SOURCE: other sources "
               "are encoded anyway";
    if (o->wait && (strcmp(o->source, "-") == 0 || !media_input_is_pipe(o->source)))
        return "--wait requires a FIFO as SOURCE (mkfifo PATH)";
    if (o->rewind.age && is_synthetic)
        return "--rewind conflicts with a synthetic source, which has no pictures";
    return NULL;
}

// Returns 0, or ERR_MALFORMED if options conflict.
static int check(const struct options *o, char *error, size_t cap)
{
    const char *reason = o->source_count ? conflict_of_several(o) : conflict_of_one(o);
    if (!reason && !o->source_count)
        reason = conflict(o);
    if (!reason && o->source_count)
        reason = conflict_of_recordings(o);
    if (reason)
        return err_say(error, cap, ERR_MALFORMED, "%s", reason);
    for (int i = 0; i < o->source_count; i++) {
        const struct options *one = &o->sources[i];
        struct stat st;
        if (stat(one->source, &st) == 0 && S_ISDIR(st.st_mode))
            return err_say(error, cap, ERR_MALFORMED,
                           "SOURCE '%s' is a folder, which is served alone and without a name",
                           one->source);
        if ((reason = conflict(one)))
            return err_say(error, cap, ERR_MALFORMED, "source '%s': %s", one->mount + 1, reason);
    }
    return 0;
}

enum options_result options_parse(int argc, char **argv, void *options, FILE *out, char *error,
                                  size_t cap)
{
    struct options *o = options;
    *o = (struct options){.path = "/live",
                          .source = "test:",
                          .log = {.filter = log_all(LOG_INFO)},
                          .audio_kbps = AUDIO_KBPS,
                          .mix = audio_mix_default(),
                          .pass_kbps = PASS_KBPS,
                          .timeout = VIEWER_TIMEOUT_SEC,
                          .max_viewers = VIEWERS_DEFAULT,
                          .codec = SDP_H264,
                          .encoder = "auto",
                          .push_level = -1};
    sockaddr_parse(SERVER_LISTEN, &o->listen);
    enum options_result result =
        command_line_read(&send_option_table, argc, argv, o, &o->file, out, error, cap);
    if (result == OPTIONS_RUN && (make_sources(o, error, cap) != 0 || check(o, error, cap) != 0))
        result = OPTIONS_BAD;
    if (!o->push_transports.count)
        (void)transport_list_split(PUSH_TRANSPORTS, &o->push_transports);
    if (!o->push_audio.count)
        (void)push_audio_parse(PUSH_AUDIO, &o->push_audio);
    if (result != OPTIONS_RUN)
        options_destroy(o);
    return result;
}

void options_destroy(void *options)
{
    struct options *o = options;
    for (int i = 0; i < o->source_count; i++) {
        free(o->sources[i].record_own);
        free(o->sources[i].source_own);
    }
    free(o->sources);
    free(o->sections);
    free(o->file);
    o->sources = o->sections = NULL;
    o->source_count = o->section_count = 0;
    o->file = NULL;
}

// Gives a source another text. Returns 0, ERR_MALFORMED or ERR_NO_MEMORY.
static int set_source(struct options *one, const char *text, char *error, size_t cap)
{
    one->source_own = strdup(text);
    const char *fault = one->source_own ? parse_source(one, one->source_own) : NULL;
    return !one->source_own ? ERR_NO_MEMORY
           : fault          ? err_say(error, cap, ERR_MALFORMED, "the source: %s", fault)
                            : 0;
}

// Adds a source of `base` or, at `i` beyond them, of the changes; none if it is removed, or counted
// with those of `base`. Returns 0, ERR_FULL, ERR_MALFORMED or ERR_NO_MEMORY.
static int add_changed(struct options *o, const struct options *base,
                       const struct source_changes *changes, int i, char *error, size_t cap)
{
    bool is_given = i < base->source_count;
    const struct options *from = is_given ? &base->sources[i] : o;
    const struct source_change *change = is_given ? source_changes_find(changes, from->mount)
                                                  : &changes->list[i - base->source_count];
    const char *name = is_given ? from->mount + 1 : change->path + 1;
    if ((change && !*change->source) ||
        (!is_given && find_source(base->sources, base->source_count, name, strlen(name))))
        return 0;
    if (o->source_count == SOURCES_MAX)
        return ERR_FULL;
    struct options *one = add_source(from, &o->sources, &o->source_count, name, strlen(name));
    int err = !one ? ERR_NO_MEMORY : change ? set_source(one, change->source, error, cap) : 0;
    return err || is_given ? err : name_recording(one, error, cap);
}

struct options *options_change(const struct options *base, const struct source_changes *changes,
                               int *err, char *error, size_t cap)
{
    struct options *o = malloc(sizeof(*o));
    *err = o ? 0 : ERR_NO_MEMORY;
    if (!o)
        return NULL;
    *o = *base;
    o->file = NULL;
    o->sources = o->sections = NULL;
    o->source_count = o->section_count = 0;
    o->push_transports.count = o->push_audio.count = 0; // as if not given: those of sources are
    for (int i = 0; i < base->source_count + changes->count && !*err; i++)
        *err = add_changed(o, base, changes, i, error, cap);
    for (int i = 0; i < o->source_count; i++)
        o->sources[i].path = o->sources[i].mount;
    if (!*err && o->source_count)
        *err = check(o, error, cap);
    if (!*err)
        return o;
    options_destroy(o);
    free(o);
    return NULL;
}

static bool is_text_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool options_source_equal(const struct options *a, const struct options *b)
{
    if (strcmp(a->source, b->source) != 0 || !is_text_equal(a->audio, b->audio) ||
        a->audio_kbps != b->audio_kbps || !audio_mix_is_equal(a->mix, b->mix) ||
        a->loop != b->loop || a->transcode != b->transcode || a->wait != b->wait ||
        a->rewind.age != b->rewind.age || a->rewind.bytes != b->rewind.bytes ||
        !is_text_equal(a->record, b->record) || a->record_segment != b->record_segment ||
        a->record_keep.age != b->record_keep.age || a->record_keep.bytes != b->record_keep.bytes ||
        a->codec != b->codec || a->has_codec != b->has_codec ||
        !is_text_equal(a->encoder, b->encoder) || a->baseline != b->baseline ||
        a->no_pass != b->no_pass || a->keep_levels != b->keep_levels ||
        a->pass_kbps != b->pass_kbps || a->temporal_layers != b->temporal_layers ||
        a->has_capture != b->has_capture || a->level_count != b->level_count)
        return false;
    if (a->has_capture && memcmp(&a->capture, &b->capture, sizeof(a->capture)) != 0)
        return false;
    return memcmp(a->levels, b->levels, (size_t)a->level_count * sizeof(*a->levels)) == 0;
}

static bool is_filter_equal(const struct log_filter *a, const struct log_filter *b)
{
    bool equal = a->level == b->level && a->count == b->count;
    for (int i = 0; equal && i < a->count; i++)
        equal = a->rules[i].level == b->rules[i].level &&
                strcmp(a->rules[i].module, b->rules[i].module) == 0;
    return equal;
}

static bool are_origins_equal(const struct http_origins *a, const struct http_origins *b)
{
    bool equal = a->count == b->count;
    for (int i = 0; equal && i < a->count; i++)
        equal = strcmp(a->origins[i], b->origins[i]) == 0;
    return equal;
}

static bool are_lists_equal(const struct transport_list *a, const struct transport_list *b)
{
    bool equal = a->count == b->count;
    for (int i = 0; equal && i < a->count; i++)
        equal = strcmp(a->names[i], b->names[i]) == 0;
    return equal;
}

static bool are_hooks_equal(const struct hook_specs *a, const struct hook_specs *b)
{
    bool equal = a->count == b->count;
    for (int i = 0; equal && i < a->count; i++)
        equal = a->hooks[i].event == b->hooks[i].event &&
                strcmp(a->hooks[i].command, b->hooks[i].command) == 0;
    return equal;
}

const char *options_fixed(const struct options *a, const struct options *b)
{
    const struct {
        const char *name;
        bool is_equal;
    } fixed[] = {
        {"listen", memcmp(&a->listen, &b->listen, sizeof(a->listen)) == 0},
        {"no-announce", a->no_announce == b->no_announce},
        {"metrics", memcmp(&a->metrics, &b->metrics, sizeof(a->metrics)) == 0},
        {"control", a->control == b->control},
        {"mtp-port", a->mtp_port == b->mtp_port},
        {"http", memcmp(&a->http, &b->http, sizeof(a->http)) == 0},
        {"http-segment", a->http_segment == b->http_segment},
        {"push", strcmp(a->push.text, b->push.text) == 0},
        {"push-transport", are_lists_equal(&a->push_transports, &b->push_transports)},
        {"push-audio",
         a->push_audio.count == b->push_audio.count &&
             memcmp(a->push_audio.codecs, b->push_audio.codecs,
                    (size_t)a->push_audio.count * sizeof(a->push_audio.codecs[0])) == 0},
        {"push-level", a->push_level == b->push_level},
        {"stats", is_text_equal(a->stats, b->stats)},
        {"trust-proxy",
         a->proxies.count == b->proxies.count &&
             memcmp(a->proxies.addresses, b->proxies.addresses,
                    (size_t)a->proxies.count * sizeof(a->proxies.addresses[0])) == 0},
        {"allow-origin", are_origins_equal(&a->origins, &b->origins)},
        {"on", are_hooks_equal(&a->hooks, &b->hooks)},
        {"srtp", a->srtp == b->srtp},
        {"access", is_text_equal(a->who.file, b->who.file)},
        {"access-http", is_text_equal(a->who.service, b->who.service)},
        {"insecure", a->who.insecure == b->who.insecure},
        {"qr", a->who.qr == b->who.qr},
        {"state-dir", is_text_equal(a->state_dir, b->state_dir)},
        {"tls-cert", is_text_equal(a->tls_cert, b->tls_cert)},
        {"tls-key", is_text_equal(a->tls_key, b->tls_key)},
        // of a source with a name they can change
        {"record", a->source_count || is_text_equal(a->record, b->record)},
        {"record-segment", a->source_count || a->record_segment == b->record_segment},
        {"record-keep", a->source_count || (a->record_keep.age == b->record_keep.age &&
                                            a->record_keep.bytes == b->record_keep.bytes)},
        {"log", is_filter_equal(&a->log.filter, &b->log.filter)},
        {"log-json", a->log.json == b->log.json},
    };
    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
        if (!fixed[i].is_equal)
            return fixed[i].name;
    return NULL;
}
