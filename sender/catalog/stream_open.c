// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/catalog/stream_open.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/worker_queue.h"
#include "media/capture/audio_open.h"
#include "media/capture/given_media.h"
#include "media/capture/source_capture.h"
#include "media/coded/ladder.h"
#include "media/encode/video_engine.h"
#include "media/source/pass_probe.h"
#include "media/stored/stored_file.h"
#include "sender/camera/camera_line.h"
#include "sender/camera/camera_media.h"
#include "sender/camera/source_camera.h"
#include "sender/feed/encoder_speed.h"
#include "sender/feed/filler_media.h"
#include "sender/feed/live_media.h"
#include "sender/feed/synthetic_media.h"
#include "sender/policy/camera_pair.h"
#include "sender/policy/source_note.h"
#include "server/rewind/rewind_media.h"
#include "server/stored/stored_media.h"

#define PUSH_ENCODES "--push requests an encoder that follows the network"

enum { DEFAULT_LAYERS = 2 };     // temporal layers
#define GRACE (2 * USEC_PER_SEC) // time for the thread to return after its deadline

// Returns true if the stored ladder has exactly the requested levels, or if none are requested.
static bool has_levels(const struct stored_info *info, const struct options *o)
{
    const struct ladder *l = &info->sdp.ladder;
    struct ladder wanted;
    if (!o->level_count)
        return true;
    int layers = o->temporal_layers ? o->temporal_layers : l->sizes[0].layers;
    return ladder_from_requests(o->levels, o->level_count, l->source_width, l->source_height,
                                l->source_fps, layers, &wanted) == 0 &&
           wanted.level_count == l->level_count && wanted.size_count == l->size_count &&
           memcmp(wanted.levels, l->levels, (size_t)l->level_count * sizeof(*l->levels)) == 0 &&
           memcmp(wanted.sizes, l->sizes, (size_t)l->size_count * sizeof(*l->sizes)) == 0;
}

// Returns true if the stored ladder has so many temporal layers, or if no number is requested.
// Requested levels say themselves which they need.
static bool has_layers(const struct stored_info *info, const struct options *o)
{
    return !o->temporal_layers || o->level_count ||
           info->sdp.ladder.sizes[0].layers == o->temporal_layers;
}

static bool wants_device(const struct options *o)
{
    return o->audio && strcmp(o->audio, "none") != 0 && !audio_source_track(o->audio);
}

bool stream_open_wants_audio(const struct options *o)
{
    return !o->audio || audio_source_track(o->audio);
}

// Warns of what a prepared file does not do.
static void warn_of_unused(const struct options *o, const struct stored_info *info,
                           const char *name)
{
    const struct {
        bool is_given;
        const char *warning;
    } rows[] = {
        {!has_levels(info, o), "--level is ignored: a prepared file has its own levels"},
        {!has_layers(info, o), "--temporal-layers is ignored: a prepared file has its own layers"},
        {options_names_engine(o), "--encoder is ignored: a prepared file is not encoded"},
        {o->audio_kbps != AUDIO_KBPS, "--sound-rate is ignored: a prepared file has its own audio"},
        {!audio_mix_is_default(o->mix),
         "the levels of a downmix are ignored: a prepared file has its "
         "own audio (--prepare takes them)"},
        {o->rewind.age, "--rewind is not used: a prepared file is not live"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].is_given)
            log_warn("%s: %s", name, rows[i].warning);
    if (wants_device(o) || audio_source_track(o->audio))
        log_warn("%s: --sound %s is ignored: a prepared file has its own audio (--prepare takes "
                 "--sound track:)",
                 name, o->audio);
}

const char *stream_open_unfit(const struct stored_info *info, const struct stat *original,
                              const struct options *o)
{
    if (!stored_origin_is_of(&info->origin, original->st_size, original->st_mtim.tv_sec))
        return "the original file has changed since";
    if (wants_device(o))
        return "--sound requests other audio";
    if (o->has_codec && o->codec != info->sdp.codec)
        return "--codec requests another codec";
    if (o->baseline)
        return "--profile requests another profile";
    if (o->no_pass && info->has_own)
        return "--no-passthrough requests that its video is encoded again";
    if (!has_layers(info, o))
        return "--temporal-layers requests other layers";
    return has_levels(info, o) ? NULL : "--level requests other levels";
}

// Logs that viewers get less than the source has, unless an option set it.
static void note_top(const struct options *o, const char *name, const struct ladder *ladder,
                     enum source_note why)
{
    char text[SOURCE_NOTE_TEXT];
    if (!o->level_count && source_note(ladder, why, text, sizeof(text)))
        log_info("%s: %s", name, text);
}

// Takes over the cache of the stored ladder at `path`. NULL: no memory.
static struct stream_media *stored_at(struct stored_cache *cache, const char *path,
                                      const struct options *o)
{
    struct stream_media *m = stored_media_new(cache, o->loop, stream_open_wants_audio(o));
    if (m && !(m->stored = strdup(path))) {
        m->ops->free(m);
        return NULL;
    }
    return m;
}

// Opens the stored ladder of a file. NULL: *err is ERR_NOT_FOUND if there is no usable one, or an
// error of media_guard_check.
static struct stream_media *open_beside(struct media_guard *guard, const struct options *o,
                                        const char *name, int *err)
{
    char path[PATH_MAX];
    struct stat original, stored;
    *err = ERR_NOT_FOUND;
    if (snprintf(path, sizeof(path), "%s" STORED_SUFFIX, name) >= (int)sizeof(path) ||
        !media_guard_find(guard, name, &original) || !media_guard_find(guard, path, &stored))
        return NULL;
    if (o->push.text[0]) {
        log_info("%s is not used: " PUSH_ENCODES, path);
        return NULL;
    }
    int unread;
    struct stored_cache *cache = stored_cache_new(path, guard, &unread);
    const char *reason =
        cache ? stream_open_unfit(stored_cache_info(cache), &original, o) : "it cannot be read";
    if (!reason) {
        log_info("%s: using its prepared file %s", name, path);
        note_top(o, name, &stored_cache_info(cache)->sdp.ladder, SOURCE_NOTE_PREPARED);
        *err = ERR_NO_MEMORY;
        warn_of_unused(o, stored_cache_info(cache), name);
        return stored_at(cache, path, o);
    }
    log_warn("%s is not used: %s (run --prepare again)", path, reason);
    stored_cache_free(cache);
    int late = media_guard_check(guard);
    *err = late ? late : ERR_NOT_FOUND;
    return NULL;
}

// Adds the audio source. A file without audio, or with audio that does not decode, is no error; a
// requested device that cannot be opened is.
static int add_audio(struct stream_media *m, const struct options *o, struct audio_source *audio,
                     int err)
{
    if (!audio)
        return o->audio && err != ERR_NOT_FOUND ? err : 0;
    char name[sizeof(audio->name)];
    snprintf(name, sizeof(name), "%s", audio->name);
    err = live_media_add_audio(m, audio, o->audio_kbps * 1000);
    if (!err)
        log_info("audio: %s, %d kbit/s", name, o->audio_kbps);
    return err;
}

// Adds the file's other audio tracks, which viewers can choose. `first`: the number of the track
// that was added. A track that does not decode (logged) is left out.
static int add_tracks(struct stream_media *m, const struct options *o, const char *path,
                      usec_t origin, int first, int count, struct media_guard *guard)
{
    int err = 0;
    for (int i = 1; i <= count && !err && m->audio_track_count < SDP_AUDIO_TRACKS; i++) {
        char number[16];
        int unread;
        snprintf(number, sizeof(number), "%d", i);
        struct audio_source *other =
            i != first ? audio_source_file_open(path, origin, number, o->mix, false, guard, &unread)
                       : NULL;
        if (other)
            err = live_media_add_audio(m, other, o->audio_kbps * 1000);
    }
    return err;
}

// Detects a mistyped name of another source and logs a hint. Returns false if it is none.
static bool is_slip(const char *name)
{
    static const char *const words[] = {"test", "camera", "screen"};
    struct stat st;
    const char *meant = NULL;
    bool there = stat(name, &st) == 0;
    if (there && S_ISREG(st.st_mode))
        return false;
    for (int i = 0; i < 3; i++)
        if (strcmp(name, words[i]) == 0)
            meant = words[i];
    if (strncmp(name, "/dev/video", 10) == 0)
        log_error("%s: not a file: for a camera use camera:%s", name, name);
    else if (meant)
        log_error("%s: no such file: for the source of that name use %s:", name, meant);
    else if (!there && strstr(name, "://"))
        log_error(
            "%.*s: such a URL cannot be a source: use rtsp://, a file, or a camera or screen of "
            "this machine",
            (int)strcspn(name, ":"), name);
    else
        return false;
    return true;
}

// `engine`: a hardware encoder has no limit here; it is not measured.
static int default_ladder(const struct source *s, const struct video_engine *engine, int layers,
                          struct ladder *out)
{
    static const struct encode_limit none;
    struct ladder least;
    int err = ladder_default(s->width, s->height, s->fps, layers, NULL, out);
    if (!err)
        err = ladder_default(s->width, s->height, s->fps, layers, &none, &least);
    if (s->kind == SDP_SOURCE_TEST && !err) { // --level may set more
        *out = least;
        return 0;
    }
    if (err || ladder_size_bitrate(out, out->size_count - 1) ==
                   ladder_size_bitrate(&least, least.size_count - 1))
        return err; // every machine is taken to encode it
    if (engine->is_hardware)
        return 0;
    struct encode_limit limit = encoder_speed_limit();
    return ladder_default(s->width, s->height, s->fps, layers, &limit, out);
}

// Returns true if the ladder is the best that this machine encodes, and the source has more.
static bool is_limited(const struct source *s, const struct ladder *l)
{
    struct ladder all;
    return s->kind != SDP_SOURCE_TEST &&
           ladder_default(s->width, s->height, s->fps, l->sizes[0].layers, NULL, &all) == 0 &&
           ladder_size_bitrate(&all, all.size_count - 1) >
               ladder_size_bitrate(l, l->size_count - 1);
}

// With --encoder auto, x264 encodes unless it encodes less than the source here: then the first
// hardware encoder that is usable does, if there is one. Layers matter more than the processor's
// time.
static int add_hardware(const struct options *o, const struct source *source,
                        const struct video_engine **engine, struct ladder *l)
{
    if (strcmp(o->encoder, "auto") != 0 || o->baseline || o->temporal_layers ||
        !is_limited(source, l))
        return 0;
    const struct video_engine *hardware = video_engine_hardware();
    if (!hardware)
        return 0;
    log_info("%s: encoder %s, as the processor encodes less than the source (--encoder x264 uses "
             "it, with temporal layers)",
             source->name, hardware->name);
    *engine = hardware;
    return default_ladder(source, hardware, 1, l);
}

static int make_ladder(const struct options *o, const struct source *source,
                       const struct video_engine **engine, struct ladder *out)
{
    *engine = options_names_engine(o) ? video_engine_find(o->encoder) : video_engine_at(0);
    int layers = !(*engine)->traits.layers ? 1
                 : o->temporal_layers      ? o->temporal_layers
                                           : DEFAULT_LAYERS;
    if (o->codec == SDP_VP9)
        return ladder_cumulative_of(o->level_count ? o->levels : NULL, source->width,
                                    source->height, source->fps, out);
    if (o->level_count)
        return ladder_from_requests(o->levels, o->level_count, source->width, source->height,
                                    source->fps, layers, out);
    int err = default_ladder(source, *engine, layers, out);
    return err ? err : add_hardware(o, source, engine, out);
}

const char *stream_open_must_encode(const struct options *o)
{
    if (o->no_pass)
        return "--no-passthrough requests that";
    if (o->level_count)
        return "--level requests levels of its own";
    if (o->codec != SDP_H264)
        return "--codec requests another codec";
    if (o->baseline)
        return "--profile requests another profile";
    if (o->http.ss_family != AF_UNSPEC)
        return "--http requests key frames at its segments";
    if (o->push.text[0]) // few servers take B frames, and none asks for fewer bits
        return PUSH_ENCODES;
    return o->record ? "--record requests key frames" : NULL;
}

// Opens a file, whose video passes if its structure and the options allow it. NULL: *err is an
// error of source_open.
static struct source *open_file(const struct options *o, const char *name,
                                struct media_guard *guard, struct pass_probe *probe, int *err)
{
    *probe = (struct pass_probe){.verdict = PASS_VERDICTS};
    if (!stream_open_must_encode(o)) {
        *err = pass_probe_file(name, o->pass_kbps * 1000, guard, probe);
        if (*err)
            return NULL;
    }
    return source_file_open(name, o->loop, &probe->coded, guard, err);
}

// Makes the source's own video the top level, if it passes, and logs that, or why not.
static void make_top(const struct options *o, struct source *source, const struct pass_probe *probe,
                     struct ladder *ladder)
{
    struct coded_video *coded = &source->coded;
    enum pass_verdict verdict = probe->verdict;
    if (coded->passes && ladder_pass(ladder, coded->bitrate_bps) != 0) {
        coded->passes = false;
        verdict = PASS_LOW_RATE;
    }
    const char *reason =
        verdict == PASS_VERDICTS ? stream_open_must_encode(o) : pass_check_reason(verdict);
    if (coded->passes)
        log_info("%s: its own video passes as it is, as the top level: %dx%d, %d kbit/s "
                 "(--no-passthrough encodes it again)",
                 source->name, source->width, source->height, coded->bitrate_bps / 1000);
    else if (verdict == PASS_HIGH_RATE)
        log_info("%s: its video is encoded again: %s (%d kbit/s, of %d)", source->name, reason,
                 probe->coded.bitrate_bps / 1000, o->pass_kbps);
    else
        log_info("%s: its video is encoded again: %s", source->name,
                 reason ? reason : pass_check_reason(PASS_OTHER_SIZE));
}

enum { RECORDED_BYTES = 64000000 };

static struct stream_media *wrap_past(struct stream_media *m, const struct options *o,
                                      bool is_passed_on, int *err)
{
    // A recording has the pictures in the order of display times alone, which does not tell that of
    // B frames.
    const char *record = m->reorders ? NULL : o->record;
    if (!o->rewind.age && !record)
        return m;
    // What the recorder has not written yet is in memory.
    struct rewind_media_config config = {.span = o->rewind.age ? o->rewind.age : 10 * USEC_PER_SEC,
                                         .bytes = o->rewind.age ? (size_t)o->rewind.bytes
                                                                : RECORDED_BYTES,
                                         .record = record,
                                         .kept = o->record_keep.age,
                                         .is_passed_on = is_passed_on};
    m = rewind_media_new(m, &config);
    *err = m ? 0 : ERR_NO_MEMORY;
    return m;
}

// Lets viewers of live media go back, if the options say so.
static struct stream_media *keep_past(struct stream_media *m, const struct options *o,
                                      const char *name, int *err)
{
    // A looped file has no duration. Its own video may have B frames, and few key frames.
    bool can = m->duration < 0 && m->codec == SDP_H264 && !m->ladder.passes;
    if (!o->rewind.age && (!o->record || !can))
        return m;
    if (!can) {
        log_warn("%s: --rewind is not used: %s", name,
                 m->duration >= 0 ? "it is a file, in which viewers can seek (--prepare lets each "
                                    "seek on its own)"
                 : m->ladder.passes
                     ? "its own video passes as it is (--no-passthrough encodes it again)"
                     : "it keeps H.264 only");
        return m;
    }
    return wrap_past(m, o, false, err);
}

// Takes over the source. `probe`: of a file; else NULL.
static struct stream_media *encode(struct source *source, const struct pass_probe *probe,
                                   struct media_guard *guard, const struct options *o,
                                   const char *name, int *err)
{
    *err = ERR_UNSUPPORTED;
    if (o->codec == SDP_HEVC) {
        log_error("%s: --codec hevc is too slow for live pictures: run weir-send --prepare --codec "
                  "hevc FILE once, and stream then",
                  source->name);
        source_free(source);
        return NULL;
    }
    struct ladder ladder;
    const struct video_engine *engine;
    *err = make_ladder(o, source, &engine, &ladder);
    if (*err) {
        log_error("%s: cannot make a ladder of levels for a source of %dx%d", source->name,
                  source->width, source->height);
        source_free(source);
        return NULL;
    }
    ladder.baseline = o->baseline;
    if (probe)
        make_top(o, source, probe, &ladder);
    if (*source->left_out)
        log_info("%s: not sent: %s", source->name, source->left_out);
    note_top(o, source->name, &ladder,
             o->codec == SDP_VP9               ? SOURCE_NOTE_VP9
             : source->kind == SDP_SOURCE_TEST ? SOURCE_NOTE_TEST
                                               : SOURCE_NOTE_SPEED);
    int audio_err;
    struct audio_source *audio =
        o->pushed && !o->audio
            ? given_media_audio(o->pushed, &audio_err)
            : audio_source_open(o->audio, source, name, o->mix, guard, &audio_err);
    usec_t origin = source->origin;
    int tracks = audio ? audio->track_count : 0, first = audio ? audio->track_number : 0;
    struct stream_media *m = live_media_new(source, &ladder, o->codec, engine);
    if (!m) {
        audio_source_free(audio);
        *err = ERR_IO;
        return NULL;
    }
    if (m->duration < 0 && !o->keep_levels)
        live_media_lower_when_slow(m);
    *err = add_audio(m, o, audio, audio_err);
    if (!*err && tracks > 1)
        *err = add_tracks(m, o, name, origin, first, tracks, guard);
    if (!*err && tracks > m->audio_track_count)
        log_info("%s: not sent: %d of %d audio tracks (--sound track:N makes another one the "
                 "first)",
                 m->title, tracks - m->audio_track_count, tracks);
    if (!*err)
        return keep_past(m, o, m->title, err); // `name` may have the password of a camera
    m->ops->free(m);
    return NULL;
}

static bool is_file_name(const char *name)
{
    return *name && !source_is_capture(name) && strncmp(name, "test:", 5) != 0;
}

bool stream_open_is_file(const struct options *o)
{
    return !o->pushed && !options_is_synthetic(o) && !camera_is(o->source) && !is_slip(o->source) &&
           is_file_name(o->source);
}

static struct stream_media *open_encoded(struct media_guard *guard, const struct options *o,
                                         const char *name, int *err)
{
    *err = ERR_UNSUPPORTED;
    if (is_slip(name))
        return NULL;
    struct pass_probe probe;
    bool is_file = is_file_name(name);
    struct source *source =
        source_is_capture(name)
            ? source_capture_open(name, o->has_capture ? &o->capture : NULL, err)
        : is_file ? open_file(o, name, guard, &probe, err)
                  : source_open_guarded(name, o->loop, guard, err);
    return source ? encode(source, is_file ? &probe : NULL, guard, o, name, err) : NULL;
}

static const char *codec_name(enum sdp_codec codec)
{
    return codec == SDP_H264   ? "H.264"
           : codec == SDP_HEVC ? "H.265"
           : codec == SDP_VP9  ? "VP9"
                               : "JPEG";
}

// Returns 0 if both streams can be levels of one source, or ERR_UNSUPPORTED (logged).
static int check_pair(struct camera *main, struct camera *sub)
{
    char name[128];
    struct camera_picture large, small;
    camera_name(main, name, sizeof(name));
    camera_picture(main, &large);
    camera_picture(sub, &small);
    if (camera_codec(main) != SDP_H264 || camera_codec(sub) != SDP_H264)
        log_error("%s: main and sub stream are levels if both are H.264; main sends %s, and sub "
                  "%s: set the camera to H.264, or give one of the two URLs",
                  name, codec_name(camera_codec(main)), codec_name(camera_codec(sub)));
    else if ((int64_t)small.width * small.height > (int64_t)large.width * large.height)
        log_error("%s: its sub stream, %dx%d, is larger than its main stream, %dx%d: exchange the "
                  "two URLs",
                  name, small.width, small.height, large.width, large.height);
    else
        return 0;
    return ERR_UNSUPPORTED;
}

// Opens the streams of a camera, at the same time; of one that is not available the other one goes
// on. Without `wants_sub` only the main stream. Returns the main stream, or the only one, and in
// *sub the sub stream, or NULL. NULL: *err (logged).
static struct camera *open_pair(const struct camera_config *config, bool wants_sub,
                                struct media_guard *guard, struct camera **sub, int *err)
{
    struct camera_pair_urls urls;
    const char *why = camera_pair_split(config->source, &urls);
    if (why) {
        log_error("the streams of %s: %s", config->name ? config->name : "the camera", why);
        *err = ERR_MALFORMED;
        return NULL;
    }
    int sub_err = 0;
    struct camera_config of = *config;
    of.source = urls.text[CAMERA_MAIN];
    of.stream = wants_sub ? "main" : NULL;
    of.size = CAMERA_MAIN;
    of.line = wants_sub ? camera_line_new(clock_now() - USEC_PER_SEC) : NULL; // before all pictures
    if (wants_sub && !of.line) {
        log_error("cannot open the camera: out of memory");
        *err = ERR_NO_MEMORY;
        return NULL;
    }
    struct camera *main = camera_start(&of, err);
    of.source = urls.text[CAMERA_SUB];
    of.stream = "sub";
    of.size = CAMERA_SUB;
    *sub = wants_sub ? camera_start(&of, &sub_err) : NULL;
    camera_line_unref(of.line);
    main = camera_await(main, guard, err);
    *sub = camera_await(*sub, guard, &sub_err);
    struct camera *only = main ? main : *sub;
    if (main && *sub) {
        *err = check_pair(main, *sub);
        if (!*err)
            return main;
        camera_free(main);
        camera_free(*sub);
        *sub = NULL;
        return NULL;
    }
    if (only && wants_sub)
        log_warn("%s is sent alone, as the only level: the other stream is not available",
                 camera_title(only));
    *err = only ? 0 : *err;
    *sub = NULL;
    return only;
}

// Returns why what a camera sends is encoded although it is H.264; NULL: it is passed on.
static const char *encoding_reason(const struct options *o, const struct camera *camera)
{
    return o->http.ss_family != AF_UNSPEC ? "--http requests key frames at its segments"
           : o->push.text[0] && camera_reorders(camera)
               ? "it sends B frames, which few servers of --push take"
               : NULL;
}

static struct stream_media *open_camera(struct media_guard *guard, const struct options *o,
                                        const char *name, int *err)
{
    bool is_silent = o->audio && strcmp(o->audio, "none") == 0;
    const struct camera_config config = {
        .source = name,
        .name = *o->mount ? o->mount + 1 : NULL,
        .has_audio = !is_silent,
        .waits = o->wait || *o->mount, // the other sources go on without it
    };
    bool is_pair = !o->publisher && camera_pair_is(name);
    bool wants_sub = !o->transcode && o->http.ss_family == AF_UNSPEC && !o->push.text[0];
    struct camera *sub = NULL;
    struct camera *camera = o->publisher
                                ? camera_open_published(o->publisher, !is_silent, guard, err)
                            : is_pair ? open_pair(&config, wants_sub, guard, &sub, err)
                                      : camera_await(camera_start(&config, err), guard, err);
    if (!camera)
        return NULL;
    if (is_pair && !wants_sub)
        log_info("%s: its sub stream is not used: %s", camera_title(camera),
                 o->push.text[0] ? "--push sends one level"
                                 : "weir-send encodes the levels, of the main stream");
    *err = ERR_UNSUPPORTED;
    enum sdp_codec codec = camera_codec(camera);
    const char *reason = encoding_reason(o, camera);
    const struct camera *heard = sub && !camera_audio_codec(camera) ? sub : camera;
    const char *audio = camera_audio_codec(heard);
    if (codec == SDP_H264 && !reason && !o->transcode) {
        if (o->audio && !is_silent)
            log_warn("%s: --sound %s is ignored: what is passed on has its own audio",
                     camera_title(camera), o->audio);
        if (audio && strcmp(audio, "Opus") != 0)
            log_info("%s: its audio, %s, is sent as Opus", camera_title(heard), audio);
        struct stream_media *m = camera_media_new(camera, sub);
        *err = m ? 0 : ERR_NO_MEMORY;
        return m ? wrap_past(m, o, true, err) : NULL;
    }
    if (!o->transcode && codec != SDP_H264)
        log_info("%s sends %s: viewers get H.264, which weir-send encodes", camera_title(camera),
                 codec_name(codec));
    else if (!o->transcode)
        log_info("%s: weir-send encodes its pictures: %s", camera_title(camera), reason);
    if (audio)
        log_info("%s: its audio, %s, is not sent: it is only with H.264 that is passed on",
                 camera_title(camera), audio);
    struct source *source = source_camera_new(camera);
    return source ? encode(source, NULL, guard, o, name, err) : NULL;
}

static struct stream_media *open_media(struct media_guard *guard, const struct options *o,
                                       const char *name, int *err)
{
    if (o->pushed) {
        struct source *source = given_media_source(o->pushed);
        return source ? encode(source, NULL, guard, o, name, err) : NULL;
    }
    if (camera_is(name) || o->publisher)
        return open_camera(guard, o, name, err);
    if (stored_file_is(name)) {
        struct stored_cache *cache = stored_cache_new(name, guard, err);
        if (cache &&
            (o->baseline || (o->has_codec && o->codec != stored_cache_info(cache)->sdp.codec))) {
            log_error("%s: %s conflicts with this prepared file, which is %s", name,
                      o->baseline ? "--profile baseline" : "--codec",
                      stored_cache_info(cache)->sdp.codec == SDP_HEVC
                          ? "HEVC"
                          : "H.264 of the high profile");
            stored_cache_free(cache);
            *err = ERR_UNSUPPORTED;
            return NULL;
        }
        if (cache)
            warn_of_unused(o, stored_cache_info(cache), name);
        if (cache)
            *err = ERR_NO_MEMORY;
        return cache ? stored_at(cache, name, o) : NULL;
    }
    struct stream_media *m = open_beside(guard, o, name, err);
    return m || *err != ERR_NOT_FOUND ? m : open_encoded(guard, o, name, err);
}

// Makes media without pictures. NULL: no memory.
static struct stream_media *open_synthetic(const struct options *o)
{
    enum sdp_source kind = o->steady ? SDP_SOURCE_STEADY : SDP_SOURCE_GREEDY;
    return o->filler_bps ? filler_media_new(kind, o->filler_bps)
                         : synthetic_media_new(&o->synthetic);
}

// The subtitles of a prepared file are those of the film next to it.
static struct subtitle_source *open_subtitles(const char *name, struct media_guard *guard)
{
    char film[PATH_MAX], names[SUBTITLE_TRACKS * (SUBTITLE_NAME + 2)] = "";
    size_t suffix = stored_file_is(name) ? strlen(STORED_SUFFIX) : 0;
    int len = snprintf(film, sizeof(film), "%.*s", (int)(strlen(name) - suffix), name);
    struct subtitle_source *s = len < (int)sizeof(film) ? subtitle_source_new(film, guard) : NULL;
    for (int i = 1; s && i <= subtitle_source_count(s); i++) {
        const char *track = subtitle_source_name(s, i);
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", i > 1 ? "; " : "",
                 *track ? track : "no name");
    }
    if (s)
        log_info("%s: subtitles for weir-play: %s", film, names);
    return s;
}

// Says which audio tracks viewers can choose.
static void note_tracks(const struct stream_media *m)
{
    char names[SDP_AUDIO_TRACKS * (SDP_TRACK_NAME + 2)] = "";
    for (int i = 0; i < m->audio_track_count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", i ? "; " : "",
                 *m->audio_tracks[i] ? m->audio_tracks[i] : "no name");
    }
    if (m->audio_bps && m->audio_track_count > 1)
        log_info("%s: audio tracks for weir-play: %s", m->title, names);
}

int stream_open(struct stream *s, struct media_guard *guard, const struct options *o,
                const char *name)
{
    int err = ERR_NO_MEMORY;
    bool is_synthetic = options_is_synthetic(o);
    struct stream_media *m = is_synthetic ? open_synthetic(o) : open_media(guard, o, name, &err);
    if (!m)
        return err;
    err = media_guard_check(guard); // opening the audio may have timed out
    if (!err) {
        stream_init(s, m, media_guard_ref(guard));
        s->record = m->codec == SDP_H264 ? o->record : NULL;
        note_tracks(m);
        if (m->kind == SDP_SOURCE_FILE)
            s->subtitles = open_subtitles(name, guard);
        return 0;
    }
    if (err == ERR_TIMED_OUT)
        log_error("%s: opening it takes too long (is the disk slow?)",
                  camera_is(name) ? m->title : name); // a camera's URL may have a password
    m->ops->free(m);
    return err;
}

int stream_open_why(struct stream *s, struct media_guard *guard, const struct options *o,
                    const char *name, char why[STREAM_OPEN_WHY])
{
    struct log_errors errors = {{0}}, *before = log_errors_kept();
    log_errors_keep(&errors);
    int err = stream_open(s, guard, o, name);
    log_errors_keep(before);
    size_t len = strlen(name);
    bool is_file = !strchr(name, ':') && strncmp(errors.first, name, len) == 0 &&
                   strncmp(errors.first + len, ": ", 2) == 0;
    const char *reason = o->publisher ? strstr(errors.first, ": ") : NULL; // after its name
    if (err && reason) {
        snprintf(why, STREAM_OPEN_WHY, "%s", reason + 2);
        return err;
    }
    snprintf(why, STREAM_OPEN_WHY, "%s",
             err == ERR_UNSUPPORTED && is_file ? errors.first + len + 2 : err_text(err));
    return err;
}

// ---- Opening with a time limit

struct opening { // owned by the thread as well, until it returns
    struct stream *stream;
    struct media_guard *guard;
    const struct options *options;
    const char *name;
    struct log_errors *errors; // borrowed; of the caller's thread
    struct worker_queue *back; // the thread pushes this struct when it has finished
    int err;
};

static void *run_opening(void *arg)
{
    struct opening *o = arg;
    log_errors_keep(o->errors);
    o->err = stream_open(o->stream, o->guard, o->options, o->name);
    (void)worker_queue_push(o->back, o);
    return NULL;
}

static void keep(void *item)
{
    (void)item;
}

int stream_open_in_time(struct stream *s, uv_loop_t *loop, const struct options *o,
                        const char *name, usec_t limit)
{
    struct opening *opening = malloc(sizeof(*opening)); // the thread may outlive this call
    pthread_t thread;
    usec_t deadline = clock_now() + limit;
    int err = ERR_NO_MEMORY;
    if (!opening)
        return err;
    *opening = (struct opening){.stream = s,
                                .guard = media_guard_new(deadline),
                                .options = o,
                                .name = name,
                                .errors = log_errors_kept(),
                                .back = worker_queue_new(1, keep),
                                .err = ERR_NO_MEMORY};
    if (!opening->guard || !opening->back ||
        pthread_create(&thread, NULL, run_opening, opening) != 0)
        goto free_all;
    if (!worker_queue_pop(opening->back, deadline + GRACE)) {
        log_error("%s: not open after %d s", name, (int)((limit + GRACE) / USEC_PER_SEC));
        return ERR_TIMED_OUT;
    }
    pthread_join(thread, NULL);
    err = opening->err;
    if (!err && (err = stream_start(s, loop)) != 0)
        stream_destroy(s);

free_all:
    if (opening->back)
        worker_queue_free(opening->back);
    media_guard_unref(opening->guard);
    free(opening);
    return err;
}
