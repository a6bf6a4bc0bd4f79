// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/live_feed.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "sender/feed/live_feed_state.h"

enum { WAITING_FRAMES = 256 };

static void item_free(void *arg)
{
    struct live_feed_item *item = arg;
    coded_frame_unref(item->frame);
    coded_audio_unref(item->audio);
    free(item);
}

// Returns true if the end that the source thread posted is still valid. If a viewer has seeked
// since then, or all viewers left and others came, the end would stop the wrong viewers.
static bool end_is_current(struct live_feed *e)
{
    pthread_mutex_lock(&e->lock);
    e->ended = e->ended && !e->has_seek;
    bool ended = e->ended;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    return ended;
}

void live_feed_free_parts(struct live_feed *e)
{
    for (int i = 0; i < e->ladder.size_count; i++)
        encoder_thread_free(e->encoders[i]);
    audio_thread_free(e->audio);
    source_free(e->source);
}

static void free_rest(struct live_feed *e)
{
    mailbox_free(e->mailbox);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

static void on_item(void *ctx, void *arg, usec_t now)
{
    struct live_feed *e = ctx;
    struct live_feed_item *item = arg;
    if (item->gone) {
        pthread_join(e->thread, NULL); // returns at once: the thread posts this item last
        free_rest(e);
    } else if (e->closed) {
        item_free(item);
        return;
    } else if (item->frame)
        e->events->on_frame(e->ctx, item->frame, now);
    else if (item->audio)
        e->events->on_audio(e->ctx, item->audio, now);
    else if (end_is_current(e))
        e->events->on_end(e->ctx, item->err, now);
    item_free(item);
}

bool live_feed_post(struct live_feed *e, struct live_feed_item content)
{
    struct live_feed_item *item = malloc(sizeof(*item));
    if (!item) {
        coded_frame_unref(content.frame);
        coded_audio_unref(content.audio);
        return false;
    }
    *item = content;
    if (mailbox_post(e->mailbox, item))
        return true;
    item_free(item);
    return false;
}

void live_feed_picture_done(struct live_feed *e)
{
    pthread_mutex_lock(&e->lock);
    e->in_flight--;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static bool on_coded(void *ctx, struct coded_frame *f)
{
    struct live_feed *e = ctx;
    bool taken = !f || live_feed_post(e, (struct live_feed_item){.frame = f});
    live_feed_picture_done(e);
    return taken;
}

static void on_audio(void *ctx, struct coded_audio *c)
{
    (void)live_feed_post(ctx, (struct live_feed_item){.audio = c});
}

static void on_audio_done(void *ctx)
{
    live_feed_picture_done(ctx);
}

static const struct audio_thread_events audio_events = {.on_audio = on_audio,
                                                        .on_done = on_audio_done};

bool live_feed_is_watched(const struct live_feed *e)
{
    if (e->hearers)
        return true;
    for (int i = 0; i < e->ladder.size_count; i++)
        if (e->watchers[i])
            return true;
    return false;
}

void live_feed_begin_again(struct live_feed *e)
{
    e->ended = false;
    if (e->has_seek)
        return;
    e->has_seek = true;
    e->seek_to = 0;
    e->seek_ahead = false;
}

struct live_feed *live_feed_new(struct source *source, const struct ladder *ladder,
                                const struct live_feed_events *events, void *ctx)
{
    struct live_feed *e = calloc(1, sizeof(*e));
    if (!e) {
        source_free(source);
        return NULL;
    }
    e->source = source;
    e->ladder = *ladder;
    e->events = events;
    e->ctx = ctx;
    e->speed = 1;
    pthread_mutex_init(&e->lock, NULL);
    clock_cond_init(&e->changed);
    bool good = true;
    for (int i = 0; good && i < ladder->size_count; i++)
        good = (e->encoders[i] = encoder_thread_new(ladder, i, on_coded, e)) != NULL;
    if (good)
        return e;
    log_error("cannot create the encoders");
    live_feed_free(e);
    return NULL;
}

int live_feed_start(struct live_feed *e, uv_loop_t *loop)
{
    e->mailbox = mailbox_new(loop, WAITING_FRAMES, on_item, item_free, e);
    e->started = e->mailbox && pthread_create(&e->thread, NULL, live_feed_run, e) == 0;
    if (e->started)
        return 0;
    log_error("cannot start the encoders");
    return ERR_IO;
}

int live_feed_add_audio(struct live_feed *e, struct audio_source *source, int bitrate_bps)
{
    e->audio = audio_thread_new(source, e->ladder.source_fps, bitrate_bps, &audio_events, e);
    return e->audio ? 0 : ERR_NO_MEMORY;
}

void live_feed_free(struct live_feed *e)
{
    if (!e)
        return;
    if (!e->started) {
        live_feed_free_parts(e);
        free_rest(e);
        return;
    }
    e->closed = true;
    pthread_mutex_lock(&e->lock);
    e->stop = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

const char *live_feed_sprop(const struct live_feed *e, int size_id)
{
    return encoder_thread_sprop(e->encoders[size_id]);
}

const char *live_feed_profile(const struct live_feed *e, int size_id)
{
    return encoder_thread_profile(e->encoders[size_id]);
}

static void watch(struct live_feed *e, int *count, int change)
{
    pthread_mutex_lock(&e->lock);
    *count += change;
    assert(*count >= 0);
    if (e->ended && !live_feed_is_watched(e))
        live_feed_begin_again(e);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

void live_feed_watch_audio(struct live_feed *e, int change)
{
    watch(e, &e->hearers, change);
}

void live_feed_watch(struct live_feed *e, int size_id, int account, int change)
{
    if (change > 0)
        encoder_thread_begin(e->encoders[size_id], account, 0);
    encoder_thread_set_viewers(e->encoders[size_id], e->watchers[size_id] + change);
    watch(e, &e->watchers[size_id], change);
}

void live_feed_begin(struct live_feed *e, int size_id, int account, int64_t from)
{
    encoder_thread_begin(e->encoders[size_id], account, from);
}

void live_feed_request_key(struct live_feed *e, int size_id, int account, usec_t now)
{
    encoder_thread_request_key(e->encoders[size_id], account, now);
}

void live_feed_set_bitrate(struct live_feed *e, int size_id, int bitrate_bps)
{
    if (!bitrate_bps)
        bitrate_bps = ladder_size_bitrate(&e->ladder, size_id);
    encoder_thread_set_bitrate(e->encoders[size_id], bitrate_bps);
}

void live_feed_repair(struct live_feed *e, int size_id, int64_t number, int account)
{
    const struct size_spec *size = &e->ladder.sizes[size_id];
    int64_t index = size_index_of_frame(size->fps, e->ladder.source_fps, number);
    bool shared = e->watchers[size_id] > 1; // without the lock, as only this thread writes it
    if (!shared || layer_temporal_id(index, size->layers) == 0)
        encoder_thread_repair(e->encoders[size_id], number, account);
}

int64_t live_feed_seek(struct live_feed *e, usec_t pts, bool ahead)
{
    if (!e->source->ops->seek)
        return ERR_UNSUPPORTED;
    pthread_mutex_lock(&e->lock);
    e->has_seek = true;
    e->seek_to = pts;
    e->seek_ahead = ahead;
    pthread_cond_broadcast(&e->changed);
    int64_t first = e->next_number;
    pthread_mutex_unlock(&e->lock);
    return first;
}

void live_feed_set_speed(struct live_feed *e, double speed)
{
    assert(speed >= 0.25 && speed <= 4);
    pthread_mutex_lock(&e->lock);
    e->speed = speed;
    pthread_mutex_unlock(&e->lock);
}

usec_t live_feed_position(struct live_feed *e, int64_t *number)
{
    pthread_mutex_lock(&e->lock);
    usec_t position = e->has_seek ? e->seek_to : e->position;
    *number = e->next_number;
    pthread_mutex_unlock(&e->lock);
    return position;
}

void live_feed_stats_of_size(struct live_feed *e, int size_id, struct live_feed_size_stats *out)
{
    encoder_thread_stats(e->encoders[size_id], out);
}

bool live_feed_stats_of_audio(struct live_feed *e, struct live_feed_audio_stats *out)
{
    if (e->audio)
        audio_thread_stats(e->audio, out);
    return e->audio;
}
