// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/camera.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/err.h"
#include "common/base/event.h"
#include "common/base/log.h"
#include "common/base/log_budget.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "media/coded/relayed_frame.h"
#include "media/decode/parameter_sets.h"
#include "media/rtp/h264.h"
#include "media/source/media_input.h"
#include "sender/camera/camera_audio.h"
#include "sender/camera/camera_line.h"
#include "sender/camera/pipe_link.h"
#include "sender/camera/publisher.h"
#include "sender/camera/rtsp_camera.h"
#include "sender/policy/away_reason.h"
#include "sender/policy/camera_clock.h"
#include "sender/policy/camera_follow.h"
#include "sender/policy/camera_numbers.h"
#include "sender/policy/camera_pace.h"
#include "sender/policy/camera_rate.h"
#include "sender/policy/camera_retry.h"
#include "sender/policy/frame_group.h"

#define OPEN_LIMIT  (20 * USEC_PER_SEC)
#define RATE_LIMIT  (3 * USEC_PER_SEC)   // for the measurement of the frame rate
#define CHECK_EVERY (50 * USEC_PER_MSEC) // of the guard
#define SAY_AFTER   (1 * USEC_PER_SEC)   // that a pipe's writer is waited for
enum { SETS_BYTES = 4096, MIN_BPS = 1000000, MAX_BPS = 1000000000 };

struct camera {
    char title[128];
    size_t name_len;          // of the title without the stream
    struct camera_line *line; // one reference; NULL: none
    int size;                 // with `line`
    usec_t started;
    struct url url;
    char *pipe;                  // owned: "-" or a FIFO's path; NULL: none
    struct publisher *publisher; // one reference; NULL: none. With neither: an IP camera
    bool waits;                  // for the next writer of the pipe
    int fifo;                    // keeps the writers' ends valid between two links; -1: none
    bool has_audio;              // false: its audio is not wanted
    int bitrate;                 // these are constant once it is open
    const char *audio_codec;     // static; NULL: it has no audio
    bool reorders;
    enum sdp_codec codec;

    pthread_mutex_t lock; // guards the members up to `thread`
    pthread_cond_t changed;
    enum { OPENING, OPEN, FAILED, ENDED } state; // FAILED: while it was opened
    int err;                                     // FAILED
    char why[512];                               // FAILED, ENDED; "": the media has ended
    usec_t written_at; // the first bytes of the pipe's writer; USEC_NEVER: none came
    bool stops;
    bool wants_key;
    const struct camera_sink *sink; // static; NULL: frames are kept in `early`
    void *sink_ctx;                 // borrowed
    void (*on_gone)(void *ctx);
    void *gone_ctx;           // borrowed
    struct frame_group early; // before there is a sink
    struct camera_picture picture;
    struct fps fps; // of the numbers; OPEN
    struct camera_stats stats;

    pthread_t thread;
    bool joined;
    uv_loop_t loop;           // the members from here on are the thread's
    uv_async_t wake;          // used by any thread until `stops`
    struct timer *timer;      // owned
    struct camera_link *link; // owned; NULL: not connected
    bool is_over;             // the link has ended: the timer frees it
    usec_t retry_at;          // with no link
    bool keeps_alive_in_turn; // a session expired
    usec_t second_at;
    usec_t begun_at;   // of the link
    usec_t stamped_at; // the first packet of pictures; USEC_NEVER: none came
    struct camera_pace pace;
    struct fps described; // frame rate of the description
    struct camera_retry retry;
    struct camera_clock clock;
    struct camera_rate rate;
    struct camera_follow follow; // OPEN
    usec_t shift;                // the viewers' media time minus that of `clock`
    struct log_budget log;       // of the thread
    uint8_t sets[SETS_BYTES];    // parameter sets, Annex B
    size_t sets_len;
    bool may_reorder;              // they allow B frames
    struct camera_numbers numbers; // towards the viewers
    struct camera_audio *audio;    // owned; NULL: it has none that is known
    usec_t media;                  // of the newest picture, on the viewers' time line
    usec_t captured_ahead;         // capture of the newest picture, minus its media time
    uint64_t bytes, second_frames; // of this second
    usec_t first_at;               // of the first frame's second
};

bool camera_is(const char *source)
{
    return url_scheme(source) > 0 || media_input_is_pipe(source);
}

// ---- Opening

// Caller holds the lock.
static void set_state(struct camera *c, int state)
{
    c->state = state;
    pthread_cond_broadcast(&c->changed);
}

static void fail(struct camera *c, int err, const char *why)
{
    pthread_mutex_lock(&c->lock);
    c->err = err;
    snprintf(c->why, sizeof(c->why), "%s", why);
    set_state(c, FAILED);
    pthread_mutex_unlock(&c->lock);
}

// The camera is open when the pictures' size and rate are known.
static void check_open(struct camera *c, usec_t now)
{
    bool is_known = c->codec == SDP_H264 ? c->picture.width > 0 : c->numbers.last >= 0;
    if (c->state != OPENING || c->stamped_at == USEC_NEVER || !is_known)
        return;
    if (c->rate.count < CAMERA_RATE_ENOUGH && now < c->stamped_at + RATE_LIMIT)
        return;
    if (camera_rate_reorders(&c->rate))
        log_warn("%s sends B frames, which cost latency: set its encoder to none (often: the "
                 "baseline profile)",
                 c->title);
    if (!camera_rate_is_known(&c->rate) && c->described.num <= 0)
        c->described = (struct fps){1, 1}; // fewer than three pictures came in RATE_LIMIT
    pthread_mutex_lock(&c->lock);
    c->fps = camera_rate_read(&c->rate, c->described);
    c->reorders = camera_rate_reorders(&c->rate);
    double seconds = usec_to_sec(usec_max(now - c->stamped_at, USEC_PER_SEC / 4));
    double bps = (double)c->bytes * 8 / seconds;
    c->bitrate = bps < MIN_BPS ? MIN_BPS : bps > MAX_BPS ? MAX_BPS : (int)bps;
    camera_numbers_set_rate(&c->numbers, c->fps);
    camera_numbers_settle(&c->numbers, &c->early, c->reorders);
    set_state(c, OPEN);
    pthread_mutex_unlock(&c->lock);
    camera_follow_init(&c->follow, c->fps, c->reorders, c->media);
}

// ---- Pictures

// Reads what the parameter sets say. Returns false if they have no usable SPS.
static bool read_sets(const uint8_t *sets, size_t len, struct camera_picture *out)
{
    size_t at = 0, unit_len;
    for (const uint8_t *sps; (sps = parameter_sets_next(sets, len, &at, &unit_len)) != NULL;) {
        if (unit_len < 4 || h264_nal_type_of(sps[0]) != H264_SPS)
            continue;
        if (h264_sps_size(sps, unit_len, &out->width, &out->height) != 0)
            return false;
        snprintf(out->profile_level_id, sizeof(out->profile_level_id), "%02x%02x%02x", sps[1],
                 sps[2], sps[3]);
        return true;
    }
    return false;
}

// The parameter sets are new: tells the sink of other pictures.
static void take_sets(struct camera *c)
{
    struct camera_picture p = {0};
    c->may_reorder = parameter_sets_may_reorder(c->codec, c->sets, c->sets_len);
    if (c->codec != SDP_H264 || !read_sets(c->sets, c->sets_len, &p))
        return;
    parameter_sets_encode(c->sets, c->sets_len, p.sprop, sizeof(p.sprop));
    pthread_mutex_lock(&c->lock);
    bool is_new = memcmp(&p, &c->picture, sizeof(p)) != 0;
    bool differs =
        c->picture.width && (p.width != c->picture.width || p.height != c->picture.height);
    c->picture = p;
    if (is_new && c->sink)
        c->sink->on_picture(c->sink_ctx, &p);
    pthread_mutex_unlock(&c->lock);
    if (differs)
        log_info("%s now sends pictures of %dx%d", c->title, p.width, p.height);
}

// Time stamps that go back are those of B frames only if the parameter sets allow them. Those of
// H.264 often do although there are none: then its slices decide.
static void look_for_b_frames(struct camera *c, const struct received_frame *f)
{
    size_t at = 0, len;
    bool found = c->codec == SDP_HEVC;
    if (c->rate.has_b_frames || !c->may_reorder)
        return;
    for (const uint8_t *unit; c->codec == SDP_H264 && !found &&
                              (unit = parameter_sets_next(f->data, f->bytes, &at, &len)) != NULL;)
        found = h264_is_b_slice(unit, len);
    c->rate.has_b_frames = found;
}

// The newest picture got its number: the rate of the numbers follows the camera's.
static void follow(struct camera *c, usec_t now)
{
    struct fps faster;
    enum camera_follow_verdict verdict =
        c->state == OPEN ? camera_follow_picture(&c->follow, c->media, c->numbers.last, &faster)
                         : CAMERA_FOLLOW_FITS;
    if (verdict == CAMERA_FOLLOW_FITS)
        return;
    if (verdict == CAMERA_FOLLOW_TOO_FAST) {
        c->link->kind->give_up(c->link, "it sends more than 240 pictures a second", now);
        return;
    }
    log_info("%s now sends %.4g frames/s, more than %.4g: its viewers connect again", c->title,
             fps_value(faster), fps_value(c->fps));
    pthread_mutex_lock(&c->lock);
    c->fps = faster;
    if (c->sink)
        c->sink->on_rate(c->sink_ctx, faster);
    pthread_mutex_unlock(&c->lock);
    camera_numbers_set_rate(&c->numbers, faster);
    // Of the newest picture; times of capture stay what they are.
    usec_t media = c->line ? c->media : usec_of_frames(c->numbers.last, faster.num, faster.den);
    c->shift += media - c->media;
    c->media = media;
    camera_follow_init(&c->follow, faster, c->reorders, media);
}

static void give(struct camera *c, struct coded_frame *f)
{
    pthread_mutex_lock(&c->lock);
    c->stats.frames++;
    if (c->stops) {
        coded_frame_unref(f);
    } else if (c->sink) {
        c->sink->on_frame(c->sink_ctx, f);
    } else {
        frame_group_add(&c->early, f);
        coded_frame_unref(f);
    }
    pthread_mutex_unlock(&c->lock);
}

// A picture came.
static void note_picture(struct camera *c, size_t bytes, bool key, usec_t now)
{
    camera_pace_picture(&c->pace, key, now);
    usec_t away = camera_retry_came(&c->retry, now);
    if (away && c->state == OPEN) {
        log_info("%s is back after %.1f s", c->title, usec_to_sec(away));
        event_note(EVENT_SOURCE_BACK, c->title, "");
    }
    c->bytes += bytes;
    c->second_frames++;
}

// Returns the times of the picture; the audio's follow.
static struct camera_time take_time(struct camera *c, uint32_t stamp, usec_t arrived,
                                    usec_t wall_ahead)
{
    struct camera_time t = camera_clock_picture(&c->clock, stamp, arrived, wall_ahead);
    t.media += c->shift;
    if (c->line) {
        t.captured = camera_line_capture(c->line, c->size, &t, arrived);
        t.media = t.captured - camera_line_origin(c->line);
    }
    c->media = t.media;
    c->captured_ahead = t.captured - t.media;
    c->link->kind->picture(c->link, stamp, t.media, arrived);
    return t;
}

static void on_frame(void *ctx, struct received_frame *f, usec_t now)
{
    struct camera *c = ctx;
    struct ladder one = {.size_count = 1, .level_count = 1};
    usec_t wall_ahead = clock_wall() - clock_now();
    struct camera_time t = take_time(c, f->rtp_timestamp, f->last_arrived, wall_ahead);
    size_t sets = parameter_sets_learn(c->codec, f, c->sets, c->sets_len, sizeof(c->sets));
    if (f->key) {
        c->sets_len = sets;
        take_sets(c);
        (void)parameter_sets_prepend(c->codec, f, c->sets, c->sets_len);
    }
    look_for_b_frames(c, f);
    note_picture(c, f->bytes, f->key, now);
    camera_numbers_give(&c->numbers, f, t.media, camera_rate_reorders(&c->rate));
    follow(c, now);
    f->reorder = f->size_id = f->temporal_id = f->level = 0;
    f->on_lower = false;
    one.source_fps = c->numbers.fps;
    one.sizes[0] = (struct size_spec){.fps = one.source_fps, .layers = 1};
    f->capture_wall = t.captured + wall_ahead;
    bool is_annexb = c->codec == SDP_H264 || c->codec == SDP_HEVC;
    struct coded_frame *out =
        relayed_frame_is_valid(f, &one) ? relayed_frame_new(f, &one, is_annexb, t.captured) : NULL;
    received_frame_free(f);
    if (out)
        give(c, out);
    check_open(c, now);
}

static void on_audio(void *ctx, const struct received_audio *a, usec_t now)
{
    struct camera *c = ctx;
    pthread_mutex_lock(&c->lock);
    bool is_wanted = c->sink && c->sink->on_audio;
    pthread_mutex_unlock(&c->lock);
    if (c->audio && is_wanted)
        camera_audio_packet(c->audio, a, now);
}

static void on_coded_audio(void *ctx, struct coded_audio *a)
{
    struct camera *c = ctx;
    usec_t now = clock_now();
    a->captured = usec_min(audio_usec(a->position) + c->captured_ahead, now);
    a->capture_wall = a->captured + clock_wall() - now;
    pthread_mutex_lock(&c->lock);
    if (c->sink && c->sink->on_audio && !c->stops)
        c->sink->on_audio(c->sink_ctx, a);
    else
        coded_audio_unref(a);
    pthread_mutex_unlock(&c->lock);
}

static void on_stamp(void *ctx, uint32_t rtp_timestamp, usec_t now)
{
    struct camera *c = ctx;
    camera_pace_packet(&c->pace, now);
    if (c->stamped_at == USEC_NEVER)
        c->stamped_at = now;
    if (c->state != OPENING)
        return;
    camera_rate_add(&c->rate, rtp_timestamp);
    check_open(c, now);
}

static void on_report(void *ctx, usec_t wall, uint32_t rtp_timestamp)
{
    struct camera *c = ctx;
    camera_clock_report(&c->clock, wall, rtp_timestamp);
}

static void on_described(void *ctx, const struct sdp *sdp, const char *audio_codec, usec_t now)
{
    struct camera *c = ctx;
    c->described = sdp->ladder.source_fps;
    if (c->state == OPENING)
        c->codec = sdp->codec;
    if (c->codec != sdp->codec) {
        c->link->kind->give_up(c->link, "it now has another codec: restart weir-send", now);
        return;
    }
    uint8_t sets[SETS_BYTES];
    size_t len = parameter_sets_decode(sdp->sprop, sets, sizeof(sets));
    if (len) {
        memcpy(c->sets, sets, len);
        c->sets_len = len;
        take_sets(c);
    }
    bool wants_audio = c->has_audio && (c->state == OPENING || c->audio_codec);
    camera_audio_free(c->audio);
    c->audio =
        sdp->audio.present && wants_audio ? camera_audio_new(&sdp->audio, on_coded_audio, c) : NULL;
    if (c->state != OPENING)
        return;
    c->audio_codec = c->audio ? audio_codec : NULL;
    if (sdp->other_audio[0] && c->has_audio)
        log_warn("%s: its audio, %s, is not sent: set %s to AAC or G.711", c->title,
                 sdp->other_audio, c->publisher ? "its encoder" : "the camera");
}

// ---- Connections

static void arm(struct camera *c)
{
    usec_t when = c->link                                   ? c->second_at
                  : c->state == FAILED || c->state == ENDED ? USEC_NEVER
                                                            : c->retry_at;
    timer_set(c->timer, c->is_over ? 0 : when);
}

// The writer of a pipe that does not wait for another one has ended, or a publisher.
static void end(struct camera *c, const char *why)
{
    if (c->state == OPENING) {
        fail(c, ERR_IO, why ? why : "it has ended before enough pictures came");
        return;
    }
    log_info("%s has ended%s%s", c->title, why ? ": " : "", why ? why : "");
    pthread_mutex_lock(&c->lock);
    snprintf(c->why, sizeof(c->why), "%s", why ? why : "");
    set_state(c, ENDED);
    const struct camera_sink *sink = c->sink;
    void *ctx = c->sink_ctx;
    pthread_mutex_unlock(&c->lock);
    if (sink) // which may wait, and lives as long as this thread
        sink->on_end(ctx, why);
}

// The writer of a pipe that waits for the next one has ended, or wrote what is no media.
static void await_writer(struct camera *c, const char *why, usec_t now)
{
    bool slower;
    c->retry_at = camera_retry_ended(&c->retry, false, &slower, now);
    if (why)
        log_warn("%s: %s; waiting for the next writer", c->title, why);
    else
        log_info("%s: its writer has ended; waiting for the next one", c->title);
    if (!why)
        c->retry_at = now; // it may be there already
    if (c->state != OPENING)
        return;
    c->stamped_at = USEC_NEVER;
    c->rate = (struct camera_rate){0};
    c->bytes = 0;
    pthread_mutex_lock(&c->lock);
    c->written_at = USEC_NEVER;
    pthread_mutex_unlock(&c->lock);
}

static void note_away(struct camera *c, const char *why, usec_t now)
{
    pthread_mutex_lock(&c->lock);
    if (!c->stats.is_away)
        c->stats.away_since = usec_min(c->retry.away, now);
    c->stats.is_away = true;
    away_reason(why ? why : "", &c->url, c->stats.why, sizeof(c->stats.why));
    pthread_mutex_unlock(&c->lock);
}

static void on_end(void *ctx, int status, const char *why, usec_t now)
{
    struct camera *c = ctx;
    struct publisher *next = c->publisher ? publisher_successor(c->publisher) : NULL;
    if (next) {
        publisher_unref(c->publisher);
        c->publisher = next;
        c->is_over = true;
        c->retry_at = now;
        arm(c);
        return;
    }
    if (c->pipe || c->publisher) {
        c->is_over = true;
        note_away(c, why, now);
        if (c->waits)
            await_writer(c, why, now);
        else
            end(c, why);
        arm(c);
        return;
    }
    bool slower, was_away = c->retry.away != USEC_NEVER;
    c->is_over = true;
    c->keeps_alive_in_turn |= rtsp_camera_expired(c->link);
    c->retry_at = camera_retry_ended(&c->retry, status == 401 || status == 403, &slower, now);
    note_away(c, why, now);
    if (c->state == OPENING)
        fail(c, ERR_IO, why);
    else if (c->state == OPEN && !was_away)
        log_warn("%s is lost: %s; trying again", c->title, why);
    else if (c->state == OPEN && slower)
        log_warn("%s is still away: %s; trying every %.0f s", c->title, why,
                 usec_to_sec(CAMERA_RETRY_LATER));
    if (c->state == OPEN && !was_away)
        event_note(EVENT_SOURCE_LOST, c->title, why);
    arm(c);
}

static void on_written(void *ctx, usec_t now)
{
    struct camera *c = ctx;
    pthread_mutex_lock(&c->lock);
    c->written_at = now;
    pthread_mutex_unlock(&c->lock);
    camera_pace_begin(&c->pace, now);
}

static struct camera_link *link_new(struct camera *c, usec_t now)
{
    static const struct camera_link_ops ops = {.on_described = on_described,
                                               .on_stamp = on_stamp,
                                               .on_frame = on_frame,
                                               .on_audio = on_audio,
                                               .on_report = on_report,
                                               .on_end = on_end};
    if (c->pipe)
        return pipe_link_new(&(struct pipe_link_config){.loop = &c->loop,
                                                        .path = c->pipe,
                                                        .title = c->title,
                                                        .has_audio = c->has_audio,
                                                        .ops = &ops,
                                                        .on_begun = on_written,
                                                        .ctx = c});
    if (c->publisher)
        return publisher_link_new(&(struct publisher_link_config){.publisher = c->publisher,
                                                                  .loop = &c->loop,
                                                                  .has_audio = c->has_audio,
                                                                  .ops = &ops,
                                                                  .ctx = c});
    return rtsp_camera_new(
        &(struct rtsp_camera_config){.loop = &c->loop,
                                     .url = &c->url,
                                     .has_audio = c->has_audio,
                                     .keeps_alive_in_turn = c->keeps_alive_in_turn,
                                     .ops = &ops,
                                     .ctx = c},
        now);
}

static void connect_now(struct camera *c, usec_t now)
{
    camera_clock_begin(&c->clock);
    camera_numbers_begin(&c->numbers);
    c->is_over = false;
    camera_pace_begin(&c->pace, now);
    c->second_at = now + USEC_PER_SEC;
    c->link = link_new(c, now);
    if (!c->link) {
        c->retry_at = now + CAMERA_RETRY_LATER;
        if (c->state == OPENING)
            fail(c, ERR_NO_MEMORY, "out of memory");
    }
}

// The camera sends no whole pictures. A pipe's writer may take as long as it likes.
static void lose(struct camera *c, usec_t now)
{
    char why[64];
    snprintf(why, sizeof(why), "no whole picture came for %.0f s",
             usec_to_sec(now - c->pace.picture));
    if (!c->pipe)
        c->link->kind->give_up(c->link, why, now);
    else if (c->state == OPEN && c->retry.away == USEC_NEVER) {
        log_warn("%s: %s; waiting for its writer", c->title, why);
        c->retry.away = c->pace.picture;
        note_away(c, why, now);
    }
}

static void on_second(struct camera *c, usec_t now)
{
    c->second_at = now + USEC_PER_SEC;
    c->link->kind->second(c->link, now);
    pthread_mutex_lock(&c->lock);
    c->stats.is_away = c->retry.away != USEC_NEVER;
    if (c->state == OPEN) {
        c->stats.fps = (double)c->second_frames;
        c->stats.rate_bps = (double)c->bytes * 8;
        c->bytes = c->second_frames = 0;
    }
    pthread_mutex_unlock(&c->lock);
    if (camera_pace_says_no_key(&c->pace, now))
        log_warn("%s: no key frame came for 10 s, which new viewers and those that lost one wait "
                 "for: set its encoder to one every 2 s or so",
                 c->title);
    if (camera_pace_is_lost(&c->pace, now))
        lose(c, now);
    check_open(c, now);
}

static void on_timer(void *ctx, usec_t now)
{
    struct camera *c = ctx;
    log_budget_advance(&c->log, now);
    if (c->is_over) {
        c->link->kind->free(c->link, now);
        c->link = NULL;
        c->is_over = false;
    }
    if (!c->link && c->state != FAILED && c->state != ENDED && now >= c->retry_at)
        connect_now(c, now);
    if (c->link && now >= c->second_at)
        on_second(c, now);
    arm(c);
}

static void on_wake(uv_async_t *wake)
{
    struct camera *c = wake->data;
    pthread_mutex_lock(&c->lock);
    bool stops = c->stops, wants_key = c->wants_key;
    c->wants_key = false;
    pthread_mutex_unlock(&c->lock);
    if (wants_key && c->link && !c->is_over)
        c->link->kind->request_key(c->link, clock_now());
    if (!stops)
        return;
    if (c->link)
        c->link->kind->free(c->link, clock_now());
    c->link = NULL;
    timer_free(c->timer);
    c->timer = NULL;
    uv_close((uv_handle_t *)&c->wake, NULL);
}

static void *run(void *arg)
{
    struct camera *c = arg;
    log_budget_init(&c->log, clock_now());
    log_bound(&c->log);
    uv_run(&c->loop, UV_RUN_DEFAULT);
    uv_loop_close(&c->loop);
    if (c->on_gone)
        c->on_gone(c->gone_ctx);
    return NULL;
}

// ---- For the owner

static void stop(struct camera *c)
{
    c->stops = true; // caller holds the lock
    c->sink = NULL;
    uv_async_send(&c->wake);
}

void camera_stop(struct camera *c, void (*on_gone)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&c->lock);
    c->on_gone = on_gone;
    c->gone_ctx = ctx;
    stop(c);
    pthread_mutex_unlock(&c->lock);
}

static void join(struct camera *c)
{
    pthread_mutex_lock(&c->lock);
    if (!c->stops)
        stop(c);
    pthread_mutex_unlock(&c->lock);
    if (!c->joined)
        pthread_join(c->thread, NULL);
    c->joined = true;
}

static void free_parts(struct camera *c)
{
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    if (c->fifo >= 0)
        close(c->fifo);
    free(c->pipe);
    camera_line_unref(c->line);
    publisher_unref(c->publisher);
    free(c);
}

void camera_free(struct camera *c)
{
    if (!c)
        return;
    join(c);
    frame_group_clear(&c->early);
    camera_audio_free(c->audio);
    free_parts(c);
}

// Takes what a client publishes.
static void take_publisher(struct camera *c, struct publisher *p)
{
    c->fifo = -1;
    c->publisher = publisher_ref(p);
    snprintf(c->title, sizeof(c->title), "%s", publisher_name(p));
}

// Reads what the configuration names. Returns 0, or an error (logged).
static int take_source(struct camera *c, const struct camera_config *config)
{
    const char *why, *source = config->source, *slash = strrchr(source, '/');
    c->fifo = -1;
    if (!media_input_is_pipe(source)) {
        int err = url_parse(source, &c->url, &why);
        if (err)
            log_error("the URL of the camera is malformed: %s", why);
        if (!c->url.has_port && !c->url.secure)
            c->url.port = URL_RTSP_PORT;
        char title[sizeof(c->title)];
        if (config->name)
            snprintf(title, sizeof(title), "%.48s (camera at %.50s)", config->name, c->url.host);
        else
            snprintf(title, sizeof(title), "camera at %.100s", c->url.host);
        utf8_copy(title, c->title, sizeof(c->title));
        c->name_len = strlen(c->title);
        if (config->stream)
            snprintf(c->title + c->name_len, sizeof(c->title) - c->name_len, ", %s stream",
                     config->stream);
        return err;
    }
    bool is_input = strcmp(source, "-") == 0;
    utf8_copy(is_input ? "standard input" : slash ? slash + 1 : source, c->title, sizeof(c->title));
    c->waits = config->waits && !is_input;
    c->pipe = strdup(source);
    if (!c->pipe)
        return ERR_NO_MEMORY;
    if (c->waits && (c->fifo = open(source, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) < 0) {
        log_error("%s: %s", c->title, strerror(errno));
        return ERR_NOT_FOUND;
    }
    return 0;
}

// `publisher`: NULL: `config` names the camera. NULL: *err, and ERR_NO_MEMORY if there is no thread
// (logged).
static struct camera *start(const struct camera_config *config, struct publisher *publisher,
                            int *err)
{
    struct camera *c = calloc(1, sizeof(*c));
    *err = ERR_NO_MEMORY;
    if (!c)
        goto no_memory;
    *err = 0;
    if (publisher)
        take_publisher(c, publisher);
    else
        *err = take_source(c, config);
    c->started = clock_now();
    c->line = camera_line_ref(config->line);
    c->size = config->size;
    c->has_audio = config->has_audio;
    c->written_at = USEC_NEVER;
    camera_retry_init(&c->retry);
    camera_clock_init(&c->clock);
    camera_numbers_init(&c->numbers);
    c->stamped_at = USEC_NEVER;
    pthread_mutex_init(&c->lock, NULL);
    clock_cond_init(&c->changed);
    if (*err || uv_loop_init(&c->loop) != 0)
        goto free_all;
    *err = ERR_NO_MEMORY;
    c->wake.data = c;
    (void)uv_async_init(&c->loop, &c->wake, on_wake);
    c->timer = timer_new(&c->loop, on_timer, c);
    if (!c->timer)
        goto close_loop;
    timer_set(c->timer, 0);
    if (pthread_create(&c->thread, NULL, run, c) == 0) {
        *err = 0;
        return c;
    }
    timer_free(c->timer);

close_loop:
    uv_close((uv_handle_t *)&c->wake, NULL);
    uv_run(&c->loop, UV_RUN_DEFAULT);
    uv_loop_close(&c->loop);
free_all:
    free_parts(c);
no_memory:
    if (*err == ERR_NO_MEMORY)
        log_error("cannot start the camera's thread: out of memory");
    return NULL;
}

// Waits until it is open, or cannot be. A pipe has the time from its writer's first bytes on.
// Returns 0 or an error.
static int wait_open(struct camera *c, struct media_guard *guard)
{
    int err = 0;
    usec_t said = c->pipe ? c->started + SAY_AFTER : USEC_NEVER;
    pthread_mutex_lock(&c->lock);
    while (!err && c->state == OPENING) {
        usec_t now = clock_now(), until = now + CHECK_EVERY;
        struct timespec at = {.tv_sec = until / USEC_PER_SEC,
                              .tv_nsec = until % USEC_PER_SEC * 1000};
        pthread_cond_timedwait(&c->changed, &c->lock, &at);
        usec_t from = c->pipe ? c->written_at : c->started;
        bool is_late = from != USEC_NEVER && clock_now() >= from + OPEN_LIMIT;
        err = c->state != OPENING ? 0 : is_late ? ERR_TIMED_OUT : media_guard_check(guard);
        if (now >= said && from == USEC_NEVER) {
            log_info("%s: waiting for a program that writes into it", c->title);
            said = USEC_NEVER;
        }
    }
    if (c->state == FAILED)
        err = c->err;
    pthread_mutex_unlock(&c->lock);
    return err;
}

static const char *late_reason(const struct camera *c)
{
    return c->stamped_at != USEC_NEVER ? "no key frame with parameter sets came in time: set its "
                                         "encoder to one every 2 s or so"
           : c->publisher              ? "no picture came in time"
           : !c->pipe ? "no picture came in time (is the camera busy with other viewers?)"
           : c->written_at == USEC_NEVER ? "no program has written into it"
                                         : "no picture came in time";
}

struct camera *camera_start(const struct camera_config *config, int *err)
{
    return start(config, NULL, err);
}

struct camera *camera_await(struct camera *c, struct media_guard *guard, int *err)
{
    if (!c)
        return NULL;
    *err = wait_open(c, guard);
    if (!*err)
        return c;
    join(c);
    if (*err == ERR_TIMED_OUT)
        log_error("%s: %s", c->title, late_reason(c));
    else if (*err != ERR_CLOSED)
        log_error("%s: %s", c->title, c->why);
    camera_free(c);
    return NULL;
}

struct camera *camera_open_published(struct publisher *p, bool has_audio, struct media_guard *guard,
                                     int *err)
{
    const struct camera_config config = {.has_audio = has_audio};
    return camera_await(start(&config, p, err), guard, err);
}

const char *camera_title(const struct camera *c)
{
    return c->title;
}

void camera_name(const struct camera *c, char *out, size_t cap)
{
    size_t len = c->name_len ? c->name_len : strlen(c->title);
    snprintf(out, cap, "%.*s", (int)len, c->title);
}

bool camera_is_pipe(const struct camera *c)
{
    return c->pipe != NULL;
}

usec_t camera_origin(const struct camera *c)
{
    return camera_line_origin(c->line);
}

struct fps camera_fps(struct camera *c)
{
    pthread_mutex_lock(&c->lock);
    struct fps fps = c->fps;
    pthread_mutex_unlock(&c->lock);
    return fps;
}

int camera_bitrate(const struct camera *c)
{
    return c->bitrate;
}

enum sdp_codec camera_codec(const struct camera *c)
{
    return c->codec;
}

bool camera_reorders(const struct camera *c)
{
    return c->reorders;
}

const char *camera_audio_codec(const struct camera *c)
{
    return c->audio_codec;
}

void camera_picture(struct camera *c, struct camera_picture *out)
{
    pthread_mutex_lock(&c->lock);
    *out = c->picture;
    pthread_mutex_unlock(&c->lock);
}

void camera_attach(struct camera *c, const struct camera_sink *sink, void *ctx)
{
    pthread_mutex_lock(&c->lock);
    c->sink = sink;
    c->sink_ctx = ctx;
    sink->on_picture(ctx, &c->picture);
    sink->on_rate(ctx, c->fps);
    for (int i = 0; i < c->early.count; i++)
        sink->on_frame(ctx, coded_frame_ref(c->early.frames[i]));
    frame_group_clear(&c->early);
    if (c->state == ENDED)
        sink->on_end(ctx, *c->why ? c->why : NULL);
    pthread_mutex_unlock(&c->lock);
}

void camera_request_key(struct camera *c)
{
    pthread_mutex_lock(&c->lock);
    c->wants_key = true;
    if (!c->stops)
        uv_async_send(&c->wake);
    pthread_mutex_unlock(&c->lock);
}

void camera_stats(struct camera *c, struct camera_stats *out)
{
    pthread_mutex_lock(&c->lock);
    *out = c->stats;
    pthread_mutex_unlock(&c->lock);
}
