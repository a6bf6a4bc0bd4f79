// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/film_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/wire/frame_ranges.h"
#include "common/wire/url.h"
#include "proxy/feed/upstream.h"
#include "proxy/policy/run_limit.h"
#include "server/policy/frame_clock.h"

enum {
    // Audio that has not come when the video is so many groups further does not exist.
    SETTLED_AFTER = 3,
};
#define STEP_EVERY (100 * USEC_PER_MSEC)
#define SILENCE    (15 * USEC_PER_SEC) // of a run that brings nothing

enum phase {
    LISTING,  // what is missing
    FETCHING, // until the origin says BYE
    SETTLING, // until the store has it, verified
    OVER,
};

struct film_run {
    struct film_run_config config;
    struct store_film *film; // one hold
    const struct stored_info *info;
    struct store_watch watch;
    struct timer *timer; // owned
    enum phase phase;
    const char *why; // OVER
    struct frame_ranges ranges;
    bool is_full;              // `ranges` has no more room
    int64_t at;                // the next group to list
    int track;                 // that is listed
    bool waits;                // for store_film_missing
    bool has_bye, is_over;     // the session
    bool is_cut;               // what still comes cannot be stored
    struct upstream *upstream; // owned
    int64_t base;              // the origin's number of the film's frame 0; INT64_MIN: not known
    int64_t settled;           // the audio of earlier groups is
    struct run_limit limit;
    uint64_t audio; // packets
    usec_t second_at;
    usec_t progress_at;
    struct film_run_stats stats;
};

// ---- Which film

bool film_run_url(const struct origin_rules *rules, const struct store_film *film, struct url *out)
{
    char path[URL_MAX_TEXT];
    const char *rest = store_film_url(film) + url_scheme(store_film_url(film));
    const char *slash = strchr(rest, '/');
    if (rules->has_origin)
        snprintf(path, sizeof(path), "%s", slash ? slash : "/");
    else
        snprintf(path, sizeof(path), "/%s", rest);
    return origin_url_of(rules, path, out) == 0 && strcmp(out->text, store_film_url(film)) == 0;
}

static void end(struct film_run *r, const char *why)
{
    r->phase = OVER;
    r->why = why;
}

// ---- From the origin. None of these may free the upstream.

static void end_if_endless(struct film_run *r, usec_t now)
{
    struct run_sent sent = {r->stats.frames, r->audio, r->stats.bytes};
    const char *why = run_limit_exceeded(&r->limit, &sent, now);
    if (!why || r->phase == OVER)
        return;
    end(r, why);
    timer_set(r->timer, now);
}

static void on_playing(void *ctx, const struct rtsp_client_place *place, usec_t now)
{
    struct film_run *r = ctx;
    r->progress_at = now;
    if (!isnan(place->seconds) && place->seconds >= 0 && place->seconds < 1e6 && place->show >= 0)
        r->base = place->show - llround(place->seconds * fps_value(r->info->sdp.ladder.source_fps));
}

static void on_frame(void *ctx, struct received_frame *f, usec_t now)
{
    struct film_run *r = ctx;
    r->stats.frames++;
    r->stats.bytes += f->bytes;
    r->stats.brought++;
    if (!r->has_bye)
        r->progress_at = now;
    int64_t group = r->base == INT64_MIN ? -1 : (f->number - r->base) / r->info->plan.gop;
    if (group > r->stats.group && group < r->config.to)
        r->stats.group = group;
    // The film begins again: all of it has come.
    if (group >= store_film_groups(r->film))
        r->has_bye = true;
    received_frame_free(f);
    end_if_endless(r, now);
}

static void on_audio(void *ctx, const struct received_audio *a, usec_t now)
{
    struct film_run *r = ctx;
    (void)a;
    r->audio++;
    r->stats.brought++;
    if (!r->has_bye)
        r->progress_at = now;
    end_if_endless(r, now);
}

static void on_nothing(void *ctx, usec_t now)
{
    (void)ctx, (void)now;
}

static void on_bye(void *ctx, usec_t now)
{
    struct film_run *r = ctx;
    r->has_bye = true;
    timer_set(r->timer, now);
}

static void on_end(void *ctx, const struct media_refusal *why, usec_t now)
{
    struct film_run *r = ctx;
    log_debug("the session that fetches ended: %s", why->text);
    r->is_over = true;
    timer_set(r->timer, now);
}

static const struct upstream_ops upstream_ops = {.on_playing = on_playing,
                                                 .on_seek_refused = on_nothing,
                                                 .on_frame = on_frame,
                                                 .on_audio = on_audio,
                                                 .on_nacked = on_nothing,
                                                 .on_clock = on_nothing,
                                                 .on_bye = on_bye,
                                                 .on_end = on_end};

static bool is_mine(const struct film_run *r, int track, int64_t group)
{
    return group >= r->config.from && group < r->config.to &&
           (track == r->config.size || track == STORED_AUDIO_TRACK);
}

static void on_change(void *ctx, int track, int64_t group)
{
    struct film_run *r = ctx;
    if (!is_mine(r, track, group) || store_film_group(r->film, track, group) != GROUP_VERIFIED)
        return;
    r->stats.brought++;
    r->stats.verified = true;
    r->progress_at = clock_now();
}

// ---- What is missing

static enum frame_kind kind_of(int track)
{
    return track == STORED_AUDIO_TRACK ? FRAMES_AUDIO : FRAMES_VIDEO;
}

static void add_missing(void *ctx, int64_t frame)
{
    struct film_run *r = ctx;
    if (!r->is_full)
        r->is_full = !frame_ranges_add(&r->ranges, kind_of(r->track), frame);
}

static void on_missing(void *ctx, const int64_t *frames, int count)
{
    struct film_run *r = ctx;
    if (!r->waits || (count && frames[0] / r->info->plan.gop != r->at))
        return;
    r->waits = false;
    for (int i = 0; i < count; i++)
        add_missing(r, frames[i]);
    r->at++;
    timer_set(r->timer, 0);
}

// Returns true when all is listed, or as much as a request can have.
static bool list(struct film_run *r)
{
    while (!r->waits) {
        if (r->is_full || r->at == r->config.to) {
            if (r->track == STORED_AUDIO_TRACK || !r->info->audio)
                return true;
            r->track = STORED_AUDIO_TRACK;
            r->is_full = false;
            r->at = r->config.from;
        }
        enum group_state state = store_film_group(r->film, r->track, r->at);
        if (state == GROUP_NONE)
            stored_track_missing(r->info, r->at, r->track, (struct stored_bytes){0}, add_missing,
                                 r);
        if (state != GROUP_PART)
            r->at++;
        else if (store_film_missing(r->film, r->track, r->at, on_missing, r))
            r->waits = true;
        else
            return false;
    }
    return false;
}

static int level_of(const struct stored_info *info, int size)
{
    int level = info->sdp.ladder.level_count - 1;
    while (level > 0 && info->sdp.ladder.levels[level].size_id != size)
        level--;
    return level;
}

static void begin(struct film_run *r, usec_t now)
{
    const struct film_origin *o = r->config.origin;
    char only[FRAME_RANGES_TEXT];
    struct url url;
    double speed = fmin(fmax(r->config.speed, FRAME_CLOCK_MIN_SPEED), FRAME_CLOCK_MAX_SPEED);
    while (frame_ranges_encode(&r->ranges, only, sizeof(only)) < 0)
        r->ranges.count[r->ranges.count[FRAMES_AUDIO] > r->ranges.count[FRAMES_VIDEO]]--;
    if (!film_run_url(o->rules, r->film, &url)) {
        end(r, "its URL is not relayed");
        return;
    }
    struct upstream_config config = {.loop = o->loop,
                                     .url = &url,
                                     .sdp = &r->info->sdp,
                                     .transports = o->transports,
                                     .rules = o->rules,
                                     .via = o->via,
                                     .has_audio = true,
                                     .level = level_of(r->info, r->config.size),
                                     .speed = speed,
                                     .only = only,
                                     .film = r->film,
                                     .ops = &upstream_ops,
                                     .ctx = r};
    log_debug("%s: fetching %s", url.text, only);
    r->upstream = upstream_new(&config, now);
    struct fps fps = r->info->sdp.ladder.source_fps;
    int64_t frames = r->info->origin.frames;
    r->limit = run_limit_of(frames, usec_of_frames(frames, fps.num, fps.den),
                            r->info->sdp.ladder.levels[config.level].bitrate_bps, speed, now);
    r->progress_at = now;
    r->second_at = now + USEC_PER_SEC;
    r->phase = FETCHING;
    if (!r->upstream)
        end(r, "out of memory");
}

// ---- The steps

// The origin has sent all the audio that it has for the listed frames of groups before `end`:
// silence may end it early.
static void settle_audio(struct film_run *r, int64_t end)
{
    int gop = r->info->plan.gop;
    struct stored_group *empty =
        r->settled < end && r->info->audio ? calloc(1, sizeof(*empty)) : NULL;
    for (; empty && r->settled < end; r->settled++) {
        int64_t first = r->settled * gop;
        bool listed = false;
        for (int64_t frame = first; frame < first + gop && !listed; frame++)
            listed = frame_ranges_have(&r->ranges, FRAMES_AUDIO, frame);
        empty->index = r->settled;
        empty->frames = stored_plan_shape(&r->info->plan, r->settled)->frames;
        if (listed)
            store_film_put(r->film, empty, STORED_AUDIO_TRACK, true);
    }
    free(empty);
}

static bool is_verified(const struct film_run *r)
{
    for (int64_t group = r->config.from; group < r->config.to; group++)
        if (store_film_group(r->film, r->config.size, group) == GROUP_WHOLE ||
            store_film_group(r->film, STORED_AUDIO_TRACK, group) == GROUP_WHOLE)
            return false;
    return true;
}

static void step(struct film_run *r, usec_t now)
{
    if (now >= r->second_at) {
        upstream_second(r->upstream, now);
        r->second_at = now + USEC_PER_SEC;
    }
    end_if_endless(r, now);
    if (r->phase == OVER)
        return;
    if (r->is_over)
        end(r, "the session with the origin ended");
    else if (upstream_cannot_verify(r->upstream))
        end(r, "the origin names no digests");
    else if (now >= r->progress_at + SILENCE)
        end(r, "the origin does not send it");
    if (r->phase == OVER)
        return;
    // What is whole is still verified.
    if (r->phase == FETCHING && !r->has_bye && store_film_is_full(r->film, now)) {
        r->has_bye = r->is_cut = true;
        if (r->base != INT64_MIN)
            upstream_pause(r->upstream, now);
    }
    if (r->phase == FETCHING && !r->has_bye) {
        settle_audio(r, r->stats.group - SETTLED_AFTER);
        return;
    }
    if (r->phase == FETCHING)
        upstream_flush(r->upstream);
    if (store_film_pending(r->film))
        return;
    if (r->phase == FETCHING) {
        if (!r->is_cut)
            settle_audio(r, r->config.to);
        r->phase = SETTLING;
        r->progress_at = now;
    } else if (is_verified(r)) {
        end(r, r->is_cut ? "the cache has no room for it" : NULL);
    }
}

static void on_timer(void *ctx, usec_t now)
{
    struct film_run *r = ctx;
    if (r->phase == LISTING && list(r))
        begin(r, now);
    else if (r->upstream && r->phase != OVER)
        step(r, now);
    if (r->phase == OVER && r->upstream) {
        upstream_free(r->upstream, now);
        r->upstream = NULL;
    }
    timer_set(r->timer, r->phase == OVER ? USEC_NEVER : now + STEP_EVERY);
}

// ---- Life

struct film_run *film_run_new(const struct film_run_config *config, usec_t now)
{
    struct film_run *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->config = *config;
    r->timer = timer_new(config->origin->loop, on_timer, r);
    r->film = r->timer ? store_film_hold(config->film) : NULL;
    if (!r->film) {
        timer_free(r->timer);
        free(r);
        return NULL;
    }
    r->info = store_film_info(r->film);
    r->track = config->size;
    r->at = r->settled = r->stats.group = config->from;
    r->base = INT64_MIN;
    r->watch = (struct store_watch){.on_change = on_change, .ctx = r};
    store_film_watch(r->film, &r->watch);
    timer_set(r->timer, now);
    return r;
}

void film_run_free(struct film_run *r, usec_t now)
{
    if (!r)
        return;
    upstream_free(r->upstream, now);
    store_film_unwatch(r->film, &r->watch);
    timer_free(r->timer);
    store_film_release(r->film);
    free(r);
}

const struct film_run_config *film_run_of(const struct film_run *r)
{
    return &r->config;
}

bool film_run_is_over(const struct film_run *r, const char **why)
{
    *why = r->why;
    return r->phase == OVER;
}

void film_run_read(const struct film_run *r, struct film_run_stats *out)
{
    *out = r->stats;
}
