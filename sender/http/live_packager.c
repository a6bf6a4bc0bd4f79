// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/live_packager.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/mailbox.h"
#include "media/audio/aac_thread.h"
#include "media/audio/audio_decoder.h"
#include "media/cmaf/cmaf_segmenter.h"
#include "sender/http/live_library.h"
#include "sender/http/rendition_rates.h"
#include "sender/policy/segment_follow.h"

enum { SEEN = 64 };  // frames of a size whose numbers are remembered
#define KEY_LEAD 0.3 // seconds before a segment's begin at which its key frames are requested

// Of media that is passed on:
enum { PASSED_TIMESCALE = 90000 };
#define PASSED_FIRST   (19 * USEC_PER_SEC) // max. length of the first segment: its parts have places
#define UNKNOWN_LENGTH (10 * USEC_PER_SEC)
#define AUDIO_WAIT     (3 * USEC_PER_SEC) // video before which audio must have come
#define PASSED_AHEAD   (5 * USEC_PER_SEC) // max. of audio before the video
#define PASSED_MOST    ((size_t)16 << 20) // bytes of a segment; the library keeps LIVE_KEPT of them
#define RUNS_TIME      (10 * USEC_PER_SEC)
enum { RUNS_MOST = 5 };               // that begin within RUNS_TIME
static const double PASSED_WAIT = 10; // seconds; a third of what a request for the first waits

struct live_packager;

struct track { // of a rendition
    struct live_packager *packager;
    int rendition;
    bool has_init;
    double longest_part; // seconds
    struct cmaf_track cmaf;
    struct cmaf_segmenter segmenter;
};

struct size {
    int64_t asked;      // the segment's begin for which a key frame was requested
    int64_t seen[SEEN]; // ring: numbers of the frames that can be decoded
    int at;
};

struct live_packager {
    struct frame_sink sink; // first
    uv_loop_t *loop;        // borrowed
    struct live_packager_config config;
    struct live_library *library; // owned
    struct mailbox *requests;     // owned: the server's thread tells the loop of a first request
    struct cmaf_grid grid;
    double part; // usual length, seconds
    struct manifest manifest;
    struct media_feed *feed; // owned; NULL: it does not watch
    struct aac_thread *aac;  // owned while it watches; NULL: no audio
    bool ended;              // the media has ended; the feed is freed later, outside its sink
    usec_t ended_at;
    bool is_over;            // and so have its files
    int64_t packet_position; // of the last packet of audio, and its capture time
    usec_t packet_wall;
    bool has_audio; // some has come
    usec_t quiet;   // length of the video since the last packet of audio
    bool is_silent; // the audio is left out
    struct size sizes[LADDER_MAX_SIZES];
    int first; // level of the first rendition: 0; what is passed on is its top one alone
    int level_count;
    // Of media that is passed on. A frame's duration is known when the next one is there.
    struct segment_follow follow;
    struct coded_frame *held; // one reference; NULL: none
    usec_t run_begin;         // media time
    int64_t segment;          // the newest; -1: none
    bool is_settled;          // the length of segments is known, and stays
    bool leaves_out;          // up to the next key frame
    usec_t runs_since;        // `runs` began since then
    int runs;
    bool has_warned;      // of a segment that ended without a key frame
    struct track *tracks; // owned: of the levels, then AAC and Opus
};

static bool is_passed_on(const struct live_packager *p)
{
    return !p->config.media->encodes;
}

// ---- From tracks to files

static void on_part(void *ctx, const struct cmaf_part *part)
{
    struct track *t = ctx;
    double seconds = (double)part->duration / t->cmaf.timescale;
    t->longest_part = fmax(t->longest_part, seconds);
    // Frames of the past come without their audio.
    const struct media_feed *feed = t->packager->feed;
    if (t->rendition == 0 && feed && !feed->gives_past)
        t->packager->quiet += (usec_t)(seconds * USEC_PER_SEC);
    live_library_part(t->packager->library, t->rendition, part);
}

// Players of a stream that names audio wait for it. So audio that does not come, or has not come
// for so long that no playlist has a segment of it, is left out. Time is the video's: a source that
// stops sending, or a slow machine, changes nothing.
static void check_audio(struct live_packager *p)
{
    usec_t length = usec_max(p->config.segment, is_passed_on(p) ? p->follow.longest : 0);
    usec_t limit =
        p->has_audio ? LIVE_WINDOW * length : usec_min(AUDIO_WAIT, 2 * p->config.segment);
    if (!p->config.media->audio_bps || p->is_silent || p->quiet < limit)
        return;
    p->is_silent = true;
    live_library_leave_out_audio(p->library);
    log_warn("%s: the source has audio, but none has come for %.0f s: HTTP viewers get video alone "
             "until it comes",
             p->config.mount, usec_to_sec(p->quiet));
}

static void on_segment(void *ctx, int64_t segment)
{
    struct track *t = ctx;
    live_library_segment(t->packager->library, t->rendition, segment);
    if (t->rendition == 0)
        check_audio(t->packager);
}

static const struct cmaf_segmenter_events segmenter_events = {.on_part = on_part,
                                                              .on_segment = on_segment};

static void give_init(struct track *t)
{
    struct mp4_writer w = {0};
    cmaf_track_init_segment(&t->cmaf, &w);
    t->has_init = !w.failed;
    if (w.failed)
        mp4_writer_destroy(&w);
    else
        live_library_init(t->packager->library, t->rendition, w.data, w.len);
}

static void on_request(void *ctx)
{
    struct live_packager *p = ctx;
    (void)mailbox_post(p->requests, p);
}

static void on_change(void *ctx)
{
    struct live_packager *p = ctx;
    p->config.on_change(p->config.ctx);
}

static const struct live_library_events library_events = {.on_request = on_request,
                                                          .on_change = on_change};

// ---- What the files are

static void describe_level(struct live_packager *p, int i)
{
    const struct stream_media *m = p->config.media;
    int level = p->first + i;
    const struct size_spec *size = &m->ladder.sizes[m->ladder.levels[level].size_id];
    struct manifest_rendition *r = &p->manifest.renditions[i];
    struct sdp sdp = {0};
    m->ops->describe(m, m->ladder.levels[level].size_id, &sdp);
    *r = (struct manifest_rendition){
        .codec = CMAF_H264,
        .width = size->width,
        .height = size->height,
        .frame_rate = level_frame_rate(&m->ladder, level),
        .timescale = is_passed_on(p) ? PASSED_TIMESCALE : cmaf_grid_timescale(&p->grid),
        .part_target =
            is_passed_on(p) ? p->part : cmaf_grid_part_target(&p->grid, &m->ladder, level)};
    snprintf(r->name, sizeof(r->name), "v%d", i);
    cmaf_codec_name(CMAF_H264, sdp.profile_level_id, r->codec_name);
    rendition_rates_video(r, m->ladder.levels[level].bitrate_bps);
    p->tracks[i].cmaf = (struct cmaf_track){.codec = CMAF_H264,
                                            .timescale = r->timescale,
                                            .width = size->width,
                                            .height = size->height};
}

static void describe_audio(struct live_packager *p, enum cmaf_codec codec, int bitrate_bps)
{
    int i = p->level_count + (codec == CMAF_OPUS);
    int samples = codec == CMAF_AAC ? AAC_FRAME : AUDIO_PACKET;
    struct manifest_rendition *r = &p->manifest.renditions[i];
    *r = (struct manifest_rendition){.codec = codec,
                                     .timescale = AUDIO_RATE,
                                     .part_target = p->part + (double)samples / AUDIO_RATE};
    snprintf(r->name, sizeof(r->name), "%s", codec == CMAF_AAC ? "aac" : "opus");
    cmaf_codec_name(codec, NULL, r->codec_name);
    rendition_rates_audio(r, bitrate_bps, samples);
    p->tracks[i].cmaf =
        (struct cmaf_track){.codec = codec, .timescale = AUDIO_RATE, .bitrate_bps = bitrate_bps};
}

static void describe_grid(struct live_packager *p, usec_t part)
{
    cmaf_grid_init(&p->grid, &p->config.media->ladder, p->config.segment, part);
    p->part = usec_to_sec(p->config.segment) / p->grid.parts;
    p->manifest.segment_seconds = (double)p->grid.frames / fps_value(p->grid.fps);
    p->manifest.segment_parts = p->grid.parts;
}

// Parts are of whole frames.
static void describe_passed(struct live_packager *p, usec_t part)
{
    const struct ladder *l = &p->config.media->ladder;
    double rate = fps_value(l->sizes[l->levels[p->first].size_id].fps);
    p->part = ceil(usec_to_sec(part) * rate - 0.01) / rate;
    cmaf_grid_init_open(&p->grid, (usec_t)(p->part * USEC_PER_SEC));
    p->manifest.segment_seconds = PASSED_WAIT;
    p->manifest.segment_parts = MANIFEST_MAX_PARTS;
    p->manifest.begins_anywhere = true;
}

static void describe(struct live_packager *p)
{
    const struct stream_media *m = p->config.media;
    usec_t part = usec_min(LIVE_PACKAGER_PART, p->config.segment);
    if (is_passed_on(p))
        describe_passed(p, part);
    else
        describe_grid(p, part);
    for (int i = 0; i < p->level_count; i++)
        describe_level(p, i);
    if (m->audio_bps) {
        describe_audio(p, CMAF_OPUS, m->audio_bps);
        describe_audio(p, CMAF_AAC, LIVE_PACKAGER_AAC_BPS);
    }
    for (int i = 0; i < p->manifest.rendition_count; i++) {
        p->tracks[i].packager = p;
        p->tracks[i].rendition = i;
    }
}

static void begin_tracks(struct live_packager *p)
{
    for (int i = 0; i < p->manifest.rendition_count; i++) {
        struct track *t = &p->tracks[i];
        cmaf_segmenter_destroy(&t->segmenter);
        cmaf_segmenter_init(&t->segmenter, &p->grid, t->cmaf.timescale, t->cmaf.codec != CMAF_H264,
                            &segmenter_events, t);
        t->has_init = false;
    }
}

// ---- Video that is encoded here

static struct live_packager *of_sink(struct frame_sink *sink)
{
    return (struct live_packager *)sink;
}

// Returns true if the frame can be decoded: the frame that it depends on could be.
static bool is_sound(struct size *s, const struct coded_frame *f)
{
    bool sound = coded_frame_starts(f);
    for (int i = 0; i < SEEN && !sound; i++)
        sound = s->seen[i] == f->depends_on;
    if (!sound)
        return false;
    s->seen[s->at] = f->number;
    s->at = (s->at + 1) % SEEN;
    return true;
}

// Requests the key frame of the next segment shortly before it begins, so that a viewer of RTSP who
// joins now need not wait for it.
static void request_key(struct live_packager *p, const struct coded_frame *f)
{
    struct size *s = &p->sizes[f->size_id];
    int64_t next = (f->number / p->grid.frames + 1) * p->grid.frames;
    double left = (double)(next - f->number) / fps_value(p->grid.fps);
    if (s->asked == next || left > KEY_LEAD)
        return;
    s->asked = next;
    p->feed->ops->begin(p->feed, f->size_id, next);
}

static int64_t next_number(const struct ladder *l, int level, int64_t number)
{
    int64_t next = number + 1;
    while (!level_has_frame(l, level, next))
        next++;
    return next;
}

static void add_to_level(struct live_packager *p, int level, const struct coded_frame *f)
{
    struct track *t = &p->tracks[level];
    if (f->key && !t->has_init && cmaf_track_learn(&t->cmaf, f) == 0)
        give_init(t);
    if (!t->has_init)
        return;
    int64_t unit = t->cmaf.timescale / (uint32_t)p->grid.fps.num * p->grid.fps.den;
    int64_t next = next_number(&p->config.media->ladder, level, f->number);
    struct cmaf_sample sample = {
        .time = f->number * unit, .duration = (next - f->number) * unit, .key = f->key};
    if (cmaf_segmenter_frame(&t->segmenter, &sample, f, f->capture_wall) != 0)
        log_error("no memory for a segment: a part is lost");
}

// ---- Audio

static void add_packet(struct track *t, int64_t position, int samples, const uint8_t *data,
                       size_t bytes, usec_t wall)
{
    struct cmaf_sample sample = {.time = position, .duration = samples, .key = true};
    if (position < 0) // before frame 0
        return;
    if (!t->has_init)
        give_init(t);
    if (cmaf_segmenter_packet(&t->segmenter, &sample, data, bytes, wall) != 0)
        log_error("no memory for a segment: a part is lost");
}

static void on_aac(void *ctx, const struct aac_packet *a)
{
    struct live_packager *p = ctx;
    usec_t wall = p->packet_wall + audio_usec(a->position - p->packet_position);
    if (p->ended)
        return;
    // AAC is made of the audio that came: if it can be decoded, and is more than a packet.
    if (p->is_silent)
        log_info("%s: audio comes: HTTP viewers that begin get it", p->config.mount);
    p->has_audio = true;
    p->is_silent = false;
    p->quiet = 0;
    add_packet(&p->tracks[p->level_count], a->position, AAC_FRAME, a->data, a->bytes, wall);
}

// ---- Video that is passed on

static usec_t decoding_time(const struct coded_frame *f)
{
    return f->pts - f->shown_after;
}

static int64_t passed_units(usec_t t)
{
    return t * PASSED_TIMESCALE / USEC_PER_SEC;
}

// The held frame lasts until `next`.
static void give_held(struct live_packager *p, usec_t next)
{
    struct track *t = &p->tracks[0];
    struct coded_frame *f = p->held;
    p->held = NULL;
    if (!f)
        return;
    if (f->key && !t->has_init && cmaf_track_learn(&t->cmaf, f) == 0)
        give_init(t);
    int64_t time = passed_units(decoding_time(f));
    struct cmaf_sample sample = {.time = time,
                                 .duration = passed_units(next) - time,
                                 .offset = (int32_t)passed_units(f->shown_after),
                                 .key = f->key};
    if (t->has_init && cmaf_segmenter_frame(&t->segmenter, &sample, f, f->capture_wall) != 0)
        log_error("no memory for a segment: a part is lost");
    coded_frame_unref(f);
}

// The first segment says how long segments are: a playlist states that once (RFC 8216bis, 4.4.3.1),
// so later ones that would be longer are cut. A quarter of a second is left for the source's
// jitter; less than half a one, as players round.
static void settle(struct live_packager *p, usec_t length)
{
    double targets[MANIFEST_MAX_RENDITIONS];
    double seconds = fmax(round(usec_to_sec(length) + 0.25), usec_to_sec(p->config.segment));
    if (p->is_settled)
        return;
    for (int i = 0; i < p->manifest.rendition_count; i++)
        targets[i] = fmax(p->manifest.renditions[i].part_target, p->tracks[i].longest_part);
    live_library_settle(p->library, seconds, targets);
    p->follow.longest = (usec_t)((seconds + 0.45) * USEC_PER_SEC);
    p->is_settled = true;
}

// Ends the segments. Video first: its length counts.
static void end_segments(struct live_packager *p)
{
    if (is_passed_on(p)) {
        usec_t end = p->follow.last + p->follow.interval;
        give_held(p, end);
        settle(p, end - p->follow.begin);
    }
    for (int i = 0; i < p->manifest.rendition_count; i++)
        cmaf_segmenter_end(&p->tracks[i].segmenter);
}

// Times, or parameter sets, are no longer those of the run: the next one begins.
static void next_run(struct live_packager *p)
{
    // If no group was complete, later ones may be longer than this part of one.
    usec_t length = p->follow.last + p->follow.interval - p->follow.begin;
    settle(p, usec_max(length, UNKNOWN_LENGTH));
    live_library_end_run(p->library);
    end_segments(p);
    segment_follow_break(&p->follow);
    describe(p);
    live_library_next_run(p->library, &p->manifest, clock_wall_steady());
    begin_tracks(p);
    aac_thread_free(p->aac);
    p->aac = p->config.media->audio_bps ? aac_thread_new(p->loop, LIVE_PACKAGER_AAC_BPS, on_aac, p)
                                        : NULL;
    log_info(
        "%s: the source's times or parameter sets have changed: HTTP viewers get a discontinuity",
        p->config.mount);
}

// A run costs every stream of this loop time. Returns true if a source has too many of them.
static bool has_many_runs(struct live_packager *p, usec_t now)
{
    if (now - p->runs_since >= RUNS_TIME) {
        p->runs_since = now;
        p->runs = 0;
    }
    return ++p->runs > RUNS_MOST;
}

static void begin_segment(struct live_packager *p, usec_t time)
{
    p->segment++;
    for (int i = 0; i < p->manifest.rendition_count; i++)
        cmaf_segmenter_cut(&p->tracks[i].segmenter, p->segment, time);
}

static void warn_of_cut(struct live_packager *p, usec_t length)
{
    if (p->has_warned)
        return;
    p->has_warned = true;
    log_warn(
        "%s: its key frames are far apart: an HTTP segment ends without one after %.1f s, as it "
        "has at most %.1f s and %zu MiB; players cannot begin with the next one",
        p->config.mount, usec_to_sec(length), usec_to_sec(p->follow.longest), PASSED_MOST >> 20);
}

static void take_passed(struct live_packager *p, struct coded_frame *f, usec_t now)
{
    struct track *t = &p->tracks[0];
    usec_t time = decoding_time(f), begin = p->follow.begin;
    bool is_first = !p->follow.has_begun;
    bool is_other = !is_first && f->key && t->has_init && cmaf_track_differs(&t->cmaf, f);
    enum segment_verdict verdict =
        is_other ? SEGMENT_BREAKS : segment_follow_frame(&p->follow, time, f->key, f->bytes);
    bool breaks = verdict == SEGMENT_BREAKS;
    p->leaves_out = breaks ? has_many_runs(p, now) : p->leaves_out && !f->key;
    if (p->leaves_out)
        return;
    if (breaks) {
        next_run(p);
        is_first = true;
        verdict = segment_follow_frame(&p->follow, time, f->key, f->bytes);
    }
    if (verdict == SEGMENT_LEAVES_OUT)
        return;
    give_held(p, time);
    if (is_first)
        p->run_begin = time;
    else if (verdict == SEGMENT_BEGINS)
        settle(p, time - begin);
    if (verdict == SEGMENT_BEGINS && !f->key)
        warn_of_cut(p, time - begin);
    if (verdict == SEGMENT_BEGINS)
        begin_segment(p, time);
    p->held = coded_frame_ref(f);
    if (segment_follow_wants_key(&p->follow))
        p->feed->ops->request_key(p->feed, f->size_id, now);
}

// Returns true if audio of this media time belongs to the run.
static bool is_of_run(const struct live_packager *p, int64_t position)
{
    usec_t time = audio_usec(position);
    return !is_passed_on(p) ||
           (p->follow.has_begun && time >= p->run_begin && time <= p->follow.last + PASSED_AHEAD);
}

// ---- What the feed gives

static void on_frame(struct frame_sink *sink, struct coded_frame *f, usec_t now)
{
    struct live_packager *p = of_sink(sink);
    const struct ladder *l = &p->config.media->ladder;
    if (!p->feed || p->ended || !is_sound(&p->sizes[f->size_id], f))
        return;
    if (is_passed_on(p)) {
        take_passed(p, f, now);
        return;
    }
    for (int i = 0; i < p->level_count; i++)
        if (l->levels[i].size_id == f->size_id && f->temporal_id <= l->levels[i].temporal_id)
            add_to_level(p, i, f);
    request_key(p, f);
}

static void on_audio(struct frame_sink *sink, struct coded_audio *c, usec_t now)
{
    (void)now;
    struct live_packager *p = of_sink(sink);
    int samples = audio_packet_samples(c->data, c->bytes);
    if (!p->feed || p->ended || !samples || !is_of_run(p, c->position))
        return;
    p->packet_position = c->position;
    p->packet_wall = c->capture_wall;
    add_packet(&p->tracks[p->level_count + 1], c->position, samples, c->data, c->bytes,
               c->capture_wall);
    if (p->aac)
        aac_thread_push(p->aac, c);
}

static void on_end(struct frame_sink *sink, const char *why, usec_t now)
{
    (void)why;
    struct live_packager *p = of_sink(sink);
    if (!p->feed || p->ended)
        return;
    p->ended = true;
    p->ended_at = now;
    end_segments(p);
    live_library_finish(p->library);
    (void)mailbox_post(p->requests, p); // the feed cannot be freed here
}

static const struct frame_sink_ops sink_ops = {
    .on_frame = on_frame, .on_audio = on_audio, .on_end = on_end};

// ---- Runs

// Adds `change` viewers to the sizes that the levels have.
static void watch(struct live_packager *p, int change)
{
    const struct level *levels = p->config.media->ladder.levels;
    int last = levels[p->first + p->level_count - 1].size_id;
    for (int i = levels[p->first].size_id; i <= last; i++)
        p->feed->ops->watch(p->feed, i, change);
}

static void stop_feed(struct live_packager *p)
{
    if (!p->feed)
        return;
    const struct stream_media *m = p->config.media;
    watch(p, -1);
    if (m->audio_bps)
        p->feed->ops->watch_audio(p->feed, -1);
    p->feed->ops->play(p->feed, false);
    p->feed->ops->free(p->feed);
    p->feed = NULL;
    coded_frame_unref(p->held);
    p->held = NULL;
    aac_thread_free(p->aac);
    p->aac = NULL;
}

static void begin_sizes(struct live_packager *p)
{
    for (int i = 0; i < LADDER_MAX_SIZES; i++) {
        p->sizes[i] = (struct size){.asked = -1};
        for (int k = 0; k < SEEN; k++)
            p->sizes[i].seen[k] = -1;
    }
}

static void begin_passed(struct live_packager *p)
{
    double targets[MANIFEST_MAX_RENDITIONS];
    struct fps fps = p->config.media->ladder.source_fps;
    usec_t interval = usec_of_frames(1, fps.num, fps.den);
    usec_t longest = p->is_settled ? p->follow.longest : PASSED_FIRST;
    segment_follow_init(&p->follow, p->config.segment, longest, PASSED_MOST, interval);
    p->segment = -1;
    if (p->is_settled)
        return;
    for (int i = 0; i < p->manifest.rendition_count; i++) {
        targets[i] = p->manifest.renditions[i].part_target;
        p->tracks[i].longest_part = 0;
    }
    live_library_settle(p->library, PASSED_WAIT, targets);
}

// Begins a run. On failure the requests wait until their deadline.
static void start(struct live_packager *p)
{
    struct stream_media *m = p->config.media;
    struct media_feed_config config = {.loop = p->loop, .sink = &p->sink};
    if (m->audio_bps && !(p->aac = aac_thread_new(p->loop, LIVE_PACKAGER_AAC_BPS, on_aac, p)))
        goto fail;
    p->feed = m->ops->feed_new(m, &config);
    if (!p->feed)
        goto free_aac;
    p->ended = false;
    begin_tracks(p);
    begin_sizes(p);
    p->has_audio = p->is_silent = false;
    p->quiet = 0;
    live_library_begin(p->library, clock_wall_steady());
    if (is_passed_on(p))
        begin_passed(p);
    p->feed->takes_any_rate = is_passed_on(p);
    p->feed->reports_losses = true; // it requests key frames itself
    p->feed->ops->play(p->feed, true);
    watch(p, 1);
    if (m->audio_bps)
        p->feed->ops->watch_audio(p->feed, 1);
    log_info("%s: HTTP viewers: %s", p->config.mount,
             is_passed_on(p) ? "weir-send makes its files" : "the encoders run");
    return;

free_aac:
    aac_thread_free(p->aac);
    p->aac = NULL;
fail:
    log_error("%s: cannot begin to encode for HTTP", p->config.mount);
}

static void on_mail(void *ctx, void *item, usec_t now)
{
    (void)item;
    (void)now;
    struct live_packager *p = ctx;
    if (p->ended)
        stop_feed(p);
    else if (!p->feed)
        start(p);
}

// A player reloads a playlist once in a target duration.
static usec_t idle_of(const struct live_packager *p)
{
    return usec_max(LIVE_PACKAGER_IDLE, is_passed_on(p) ? p->follow.longest * 3 / 2 : 0);
}

void live_packager_tick(struct live_packager *p, usec_t now)
{
    usec_t asked = live_library_asked(p->library);
    usec_t idle = idle_of(p);
    if (asked == 0 || now - (p->ended ? usec_max(asked, p->ended_at) : asked) <= idle)
        return;
    stop_feed(p);
    p->ended = false;
    const struct stream_media *m = p->config.media;
    p->is_over = is_passed_on(p) && m->ops->is_over && m->ops->is_over(m);
    live_library_end(p->library, p->is_over);
    on_change(p); // a request that came just now is decided again: it begins a run
    if (p->is_over)
        log_info("%s: the media has ended: its HTTP files are gone", p->config.mount);
    else
        log_info("%s: no HTTP request for %d s: %s", p->config.mount, (int)(idle / USEC_PER_SEC),
                 is_passed_on(p) ? "weir-send makes no more files" : "the encoders rest");
}

bool live_packager_is_over(const struct live_packager *p)
{
    return p->is_over;
}

// ---- Making it

static void keep(void *item)
{
    (void)item;
}

// Returns the number of levels that are encoded. The own video of a film, which passes as it is, is
// the top one: its key frames are not at the segments' begins.
static int levels_of(const struct ladder *l)
{
    int count = l->level_count;
    while (count > 1 && ladder_size_passes(l, l->levels[count - 1].size_id))
        count--;
    return count;
}

bool live_packager_can(const struct stream_media *m)
{
    bool is_camera = m->kind == SDP_SOURCE_CAMERA || m->kind == SDP_SOURCE_RELAYED;
    return m->codec == SDP_H264 && (m->encodes || (is_camera && !m->relays && m->ops->describe));
}

struct live_packager *live_packager_new(uv_loop_t *loop, const struct live_packager_config *config)
{
    struct live_packager *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->sink.ops = &sink_ops;
    p->loop = loop;
    p->config = *config;
    p->first = is_passed_on(p) ? config->media->ladder.level_count - 1 : 0;
    p->level_count = is_passed_on(p) ? 1 : levels_of(&config->media->ladder);
    p->manifest.rendition_count = p->level_count + (config->media->audio_bps ? 2 : 0);
    p->tracks = calloc((size_t)p->manifest.rendition_count, sizeof(*p->tracks));
    if (!p->tracks)
        goto fail;
    describe(p);
    p->library = live_library_new(&p->manifest, config->mount, &library_events, p);
    p->requests = mailbox_new(loop, 4, on_mail, keep, p);
    if (p->library && p->requests)
        return p;
fail:
    live_packager_free(p);
    return NULL;
}

void live_packager_free(struct live_packager *p)
{
    if (!p)
        return;
    stop_feed(p);
    for (int i = 0; p->tracks && i < p->manifest.rendition_count; i++)
        cmaf_segmenter_destroy(&p->tracks[i].segmenter);
    live_library_free(p->library);
    mailbox_free(p->requests);
    free(p->tracks);
    free(p);
}

struct http_content *live_packager_content(struct live_packager *p)
{
    return live_library_content(p->library);
}
