// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/film_fetcher.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/put.h"
#include "common/base/scan.h"
#include "common/net/timer.h"
#include "common/wire/frame_ranges.h"
#include "common/wire/rtsp.h"
#include "proxy/feed/upstream.h"
#include "server/policy/rtsp_parameters.h"

enum {
    LATENCY_MS = 30000, // what is fetched may wait at the origin
    HASHES = 64,
    IDLE_ROUNDS = 8, // in a row that verify nothing, at most; then it is another film's turn
};
#define LOOK_EVERY    (2 * USEC_PER_SEC)
#define STEP_EVERY    (100 * USEC_PER_MSEC)
#define SILENCE       (15 * USEC_PER_SEC) // of a round that brings nothing
#define RETRY_FIRST   (10 * USEC_PER_SEC)
#define RETRY_DOUBLES 8

enum phase {
    IDLE,
    LISTING,   // what is missing
    FETCHING,  // until the origin says BYE
    WRITING,   // until the store has it
    VERIFYING, // the origin's digests
};

struct film_fetcher {
    struct film_fetcher_config config;
    char via[1024];
    struct timer *timer; // owned
    enum phase phase;
    struct store_film *film; // one hold; IDLE: NULL
    int size;
    struct frame_ranges ranges;
    bool is_full;              // `ranges` has no more room
    int64_t at;                // the next group to list
    int track;                 // that is listed
    bool waits;                // for store_film_missing
    bool has_bye, is_over;     // the session
    struct upstream *upstream; // owned
    usec_t second_at;
    usec_t progress_at;
    bool asked;
    usec_t ask_at;
    uint64_t brought; // verified groups and frames, of this round
    bool verified;    // a group, in this round
    int idle_rounds;  // of this film, in a row, that verified nothing
    uint64_t fetched; // bytes, of this film
    struct film_fetcher_stats stats;
};

// ---- Which film

static bool is_worth(const struct store_film *f, int size)
{
    int64_t count = store_film_stored(f, size);
    return count > 0 && 2 * count >= store_film_groups(f) && !store_film_is_complete(f, size);
}

// Finds the URL of a film as a viewer's request would, with the origin's credentials. Returns false
// if no viewer could request it now.
static bool url_of(const struct film_fetcher *f, const struct store_film *film, struct url *out)
{
    char path[URL_MAX_TEXT];
    const char *rest = store_film_url(film) + strlen("rtsp://");
    const char *slash = strchr(rest, '/');
    if (f->config.rules->has_origin)
        snprintf(path, sizeof(path), "%s", slash ? slash : "/");
    else
        snprintf(path, sizeof(path), "/%s", rest);
    return origin_url_of(f->config.rules, path, out) == 0 &&
           strcmp(out->text, store_film_url(film)) == 0;
}

static bool choose(struct film_fetcher *f, usec_t now)
{
    struct url url;
    for (struct store_film *film = store_next(f->config.store, NULL); film;
         film = store_next(f->config.store, film)) {
        if (now < store_film_fetch(film)->after || f->config.is_busy(f->config.ctx, film) ||
            !url_of(f, film, &url))
            continue;
        for (int size = store_film_sizes(film) - 1; size >= 0; size--)
            if (is_worth(film, size)) {
                f->film = store_film_hold(film);
                f->size = size;
                return f->film;
            }
    }
    return false;
}

// ---- The end of a round

static void close_round(struct film_fetcher *f, usec_t now)
{
    upstream_free(f->upstream, now);
    f->upstream = NULL;
    f->is_over = f->has_bye = f->asked = false;
}

static void leave_film(struct film_fetcher *f, usec_t after, usec_t now)
{
    struct store_fetch *fetch = store_film_fetch(f->film);
    close_round(f, now);
    fetch->after = after;
    store_film_release(f->film);
    f->film = NULL;
    f->phase = IDLE;
    f->fetched = 0;
    f->idle_rounds = 0;
}

static void begin_listing(struct film_fetcher *f, usec_t now)
{
    close_round(f, now);
    memset(&f->ranges, 0, sizeof(f->ranges));
    f->is_full = false;
    f->at = 0;
    f->track = f->size;
    f->brought = 0;
    f->verified = false;
    f->phase = LISTING;
}

static void end_round(struct film_fetcher *f, const char *why, usec_t now)
{
    struct store_fetch *fetch = store_film_fetch(f->film);
    const char *url = store_film_url(f->film);
    f->idle_rounds = f->verified ? 0 : f->idle_rounds + 1;
    if (!why && f->brought && f->idle_rounds == IDLE_ROUNDS)
        why = "what the origin sends does not match its digests";
    if (store_film_is_complete(f->film, f->size)) {
        const struct size_spec *size = &store_film_info(f->film)->sdp.ladder.sizes[f->size];
        log_info("%s: %dx%d is stored completely; %" PRIu64 " bytes were fetched", url, size->width,
                 size->height, f->fetched);
        fetch->tries = 0;
        leave_film(f, now, now);
    } else if (f->brought && !why) {
        begin_listing(f, now);
    } else {
        int doubles = fetch->tries < RETRY_DOUBLES ? fetch->tries++ : RETRY_DOUBLES;
        usec_t wait = RETRY_FIRST << doubles;
        log_info("%s: what is missing cannot be fetched: %s; trying again in %.0f s", url,
                 why ? why : "the origin sends no more of it", usec_to_sec(wait));
        leave_film(f, now + wait, now);
    }
}

// ---- From the origin. None of these may free the upstream.

static void on_playing(void *ctx, const struct rtsp_client_place *place, usec_t now)
{
    (void)place;
    struct film_fetcher *f = ctx;
    f->progress_at = now;
}

static void on_frame(void *ctx, struct received_frame *r, usec_t now)
{
    struct film_fetcher *f = ctx;
    f->stats.frames++;
    f->stats.bytes += r->bytes;
    f->fetched += r->bytes;
    f->brought++;
    f->progress_at = now;
    received_frame_free(r);
}

static void on_audio(void *ctx, const struct received_audio *a, usec_t now)
{
    struct film_fetcher *f = ctx;
    (void)now;
    f->fetched += a->bytes;
    f->brought++;
}

static void on_nothing(void *ctx, usec_t now)
{
    (void)ctx, (void)now;
}

static void on_bye(void *ctx, usec_t now)
{
    struct film_fetcher *f = ctx;
    f->has_bye = true;
    timer_set(f->timer, now);
}

static void on_end(void *ctx, const struct media_refusal *why, usec_t now)
{
    struct film_fetcher *f = ctx;
    log_debug("the session that fetches ended: %s", why->text);
    f->is_over = true;
    timer_set(f->timer, now);
}

static bool read_digest(struct text hex, struct stored_digest *out)
{
    if (hex.len != (size_t)2 * STORED_DIGEST_BYTES)
        return false;
    for (int i = 0; i < STORED_DIGEST_BYTES; i++) {
        char byte[3] = {hex.at[2 * i], hex.at[2 * i + 1], '\0'}, *end;
        out->bytes[i] = (uint8_t)strtoul(byte, &end, 16);
        if (*end)
            return false;
    }
    return true;
}

static void on_hashes(void *ctx, struct text body, usec_t now)
{
    struct film_fetcher *f = ctx;
    struct text name, value;
    size_t at = 0;
    bool refused = true;
    f->asked = false;
    while (rtsp_parameter_next(body, &at, &name, &value) == 1) {
        struct scan in = text_scan(value);
        struct text which = text_of_scan(scan_until(&in, ' '));
        struct rtsp_group of;
        struct stored_digest digest;
        if (!text_is_nocase(name, "group-hash") || !rtsp_parameter_group(which, &of))
            continue;
        refused = false;
        if (of.group >= store_film_groups(f->film) ||
            !read_digest(text_of_scan(in), &digest)) // `later`, or `none`
            continue;
        store_film_verify(f->film, of.track, of.group, &digest);
        if (store_film_group(f->film, of.track, of.group) == GROUP_VERIFIED) {
            f->brought++;
            f->verified = true;
        }
        f->progress_at = now;
    }
    f->is_over |= refused;
    timer_set(f->timer, now + STEP_EVERY);
}

static const struct upstream_ops upstream_ops = {.on_playing = on_playing,
                                                 .on_seek_refused = on_nothing,
                                                 .on_frame = on_frame,
                                                 .on_audio = on_audio,
                                                 .on_nacked = on_nothing,
                                                 .on_clock = on_nothing,
                                                 .on_bye = on_bye,
                                                 .on_hashes = on_hashes,
                                                 .on_end = on_end};

// ---- What is missing

static enum frame_kind kind_of(int track)
{
    return track == STORED_AUDIO_TRACK ? FRAMES_AUDIO : FRAMES_VIDEO;
}

static void on_missing(void *ctx, const int64_t *frames, int count)
{
    struct film_fetcher *f = ctx;
    f->waits = false;
    for (int i = 0; i < count && !f->is_full; i++)
        f->is_full = !frame_ranges_add(&f->ranges, kind_of(f->track), frames[i]);
    f->at++;
}

// Returns true when all is listed, or as much as a request can have.
static bool list(struct film_fetcher *f)
{
    const struct stored_info *info = store_film_info(f->film);
    while (!f->waits) {
        if (f->is_full || f->at == store_film_groups(f->film)) {
            if (f->track == STORED_AUDIO_TRACK || !info->audio)
                return true;
            f->track = STORED_AUDIO_TRACK;
            f->is_full = false;
            f->at = 0;
        }
        if (store_film_group(f->film, f->track, f->at) >= GROUP_WHOLE)
            f->at++;
        else if (store_film_missing(f->film, f->track, f->at, on_missing, f))
            f->waits = true;
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

static double speed_of(const struct film_fetcher *f, const struct level *level)
{
    double speed = f->config.bps > 0 ? f->config.bps / level->bitrate_bps : 1;
    return speed < 0.25 ? 0.25 : speed > 4 ? 4 : speed;
}

static void begin_round(struct film_fetcher *f, usec_t now)
{
    const struct stored_info *info = store_film_info(f->film);
    char only[FRAME_RANGES_TEXT];
    struct url url;
    int level = level_of(info, f->size);
    while (frame_ranges_encode(&f->ranges, only, sizeof(only)) < 0)
        f->ranges.count[f->ranges.count[FRAMES_AUDIO] > f->ranges.count[FRAMES_VIDEO]]--;
    if (!url_of(f, f->film, &url)) {
        end_round(f, "its URL is not relayed", now);
        return;
    }
    struct upstream_config config = {.loop = f->config.loop,
                                     .url = &url,
                                     .sdp = &info->sdp,
                                     .transports = f->config.transports,
                                     .rules = f->config.rules,
                                     .via = f->via,
                                     .has_audio = true,
                                     .level = level,
                                     .latency_ms = LATENCY_MS,
                                     .speed = speed_of(f, &info->sdp.ladder.levels[level]),
                                     .only = only,
                                     .film = f->film,
                                     .ops = &upstream_ops,
                                     .ctx = f};
    log_debug("%s: fetching %s", url.text, only);
    f->upstream = upstream_new(&config, now);
    f->stats.rounds++;
    f->progress_at = now;
    f->second_at = now + USEC_PER_SEC;
    f->phase = FETCHING;
    if (!f->upstream)
        end_round(f, "out of memory", now);
}

// The origin has sent all the audio that it has for these frames: silence may end it early.
static void settle_audio(struct film_fetcher *f)
{
    const struct stored_info *info = store_film_info(f->film);
    struct stored_group *empty = calloc(1, sizeof(*empty));
    for (int64_t group = 0; empty && info->audio && group < store_film_groups(f->film); group++) {
        int64_t first = group * info->plan.gop;
        int64_t next = frame_ranges_next(&f->ranges, first);
        bool listed = false;
        for (int64_t frame = first; frame < first + info->plan.gop && !listed; frame++)
            listed = frame_ranges_have(&f->ranges, FRAMES_AUDIO, frame);
        if (next < 0)
            break;
        empty->index = group;
        empty->frames = stored_plan_shape(&info->plan, group)->frames;
        if (listed)
            store_film_put(f->film, empty, STORED_AUDIO_TRACK, true);
    }
    free(empty);
}

// ---- Verifying

// Asks for the digests of groups that are whole. Returns false if there are none.
static bool ask(struct film_fetcher *f, usec_t now)
{
    char body[HASHES * 32];
    struct put p = put_into(body, sizeof(body));
    int count = 0;
    for (int i = 0; i < 2; i++) {
        int track = i ? STORED_AUDIO_TRACK : f->size;
        for (int64_t group = 0; group < store_film_groups(f->film) && count < HASHES; group++) {
            if (store_film_group(f->film, track, group) != GROUP_WHOLE)
                continue;
            if (i)
                put_format(&p, "group-hash: audio/%" PRId64 "\r\n", group);
            else
                put_format(&p, "group-hash: %d/%" PRId64 "\r\n", track, group);
            count++;
        }
    }
    if (count)
        f->asked = upstream_ask_hashes(f->upstream, body, now);
    return count;
}

// ---- The steps

static void step_session(struct film_fetcher *f, usec_t now)
{
    if (now >= f->second_at) {
        upstream_second(f->upstream, now);
        f->second_at = now + USEC_PER_SEC;
    }
    if (f->is_over) {
        end_round(f, "the session with the origin ended", now);
        return;
    }
    if (now >= f->progress_at + SILENCE) {
        end_round(f, "the origin does not send it", now);
        return;
    }
    switch (f->phase) {
    case IDLE:
    case LISTING:
        return;
    case FETCHING:
        if (!f->has_bye)
            return;
        upstream_flush(f->upstream);
        f->phase = WRITING;
        return;
    case WRITING:
        if (store_film_pending(f->film))
            return;
        settle_audio(f);
        f->phase = VERIFYING;
        f->progress_at = now;
        return;
    case VERIFYING:
        if (!store_film_pending(f->film) && !f->asked && !ask(f, now))
            end_round(f, NULL, now);
        return;
    }
}

static void on_timer(void *ctx, usec_t now)
{
    struct film_fetcher *f = ctx;
    if (f->film && !f->waits && f->config.is_busy(f->config.ctx, f->film))
        leave_film(f, now, now);
    if (f->phase == IDLE && choose(f, now))
        begin_listing(f, now);
    if (f->phase == LISTING && list(f))
        begin_round(f, now);
    else if (f->upstream)
        step_session(f, now);
    timer_set(f->timer, now + (f->phase == IDLE ? LOOK_EVERY : STEP_EVERY));
}

void film_fetcher_wake(struct film_fetcher *f, usec_t now)
{
    if (f->phase == IDLE)
        timer_set(f->timer, now + STEP_EVERY);
}

void film_fetcher_read(const struct film_fetcher *f, struct film_fetcher_stats *out)
{
    *out = f->stats;
}

struct film_fetcher *film_fetcher_new(const struct film_fetcher_config *config)
{
    struct film_fetcher *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->config = *config;
    snprintf(f->via, sizeof(f->via), "%s", config->via);
    f->timer = timer_new(config->loop, on_timer, f);
    if (f->timer)
        return f;
    free(f);
    return NULL;
}

void film_fetcher_free(struct film_fetcher *f, usec_t now)
{
    if (!f)
        return;
    if (f->film)
        leave_film(f, now, now);
    timer_free(f->timer);
    free(f);
}
