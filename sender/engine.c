// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/engine.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "sender/engine_state.h"

enum { WAITING_FRAMES = 256 };

static void item_free(void *arg)
{
    struct engine_item *item = arg;
    coded_frame_unref(item->frame);
    coded_sound_unref(item->sound);
    free(item);
}

// Of the end that the source thread told of: is it still one? Since then a viewer may have gone
// elsewhere, or all left and others come; the end would be theirs.
static bool has_ended(struct engine *e)
{
    pthread_mutex_lock(&e->lock);
    e->ended = e->ended && !e->has_seek;
    bool ended = e->ended;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    return ended;
}

void engine_free_parts(struct engine *e)
{
    for (int i = 0; i < e->ladder.size_count; i++)
        encoder_thread_free(e->encoders[i]);
    sound_thread_free(e->sound);
    source_free(e->source);
}

static void free_rest(struct engine *e)
{
    mailbox_free(e->mailbox);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

static void on_item(void *ctx, void *arg, usec_t now)
{
    struct engine *e = ctx;
    struct engine_item *item = arg;
    if (item->gone) {
        pthread_join(e->thread, NULL); // posting this was the last thing that it did
        free_rest(e);
    } else if (e->closed) {
        item_free(item);
        return;
    } else if (item->frame)
        e->events->on_frame(e->ctx, item->frame, now);
    else if (item->sound)
        e->events->on_sound(e->ctx, item->sound, now);
    else if (has_ended(e))
        e->events->on_end(e->ctx, item->err, now);
    item_free(item);
}

bool engine_post(struct engine *e, struct engine_item content)
{
    struct engine_item *item = malloc(sizeof(*item));
    if (!item) {
        coded_frame_unref(content.frame);
        coded_sound_unref(content.sound);
        return false;
    }
    *item = content;
    if (mailbox_post(e->mailbox, item))
        return true;
    item_free(item);
    return false;
}

void engine_answered(struct engine *e)
{
    pthread_mutex_lock(&e->lock);
    e->in_flight--;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static bool on_coded(void *ctx, struct coded_frame *f)
{
    struct engine *e = ctx;
    bool taken = !f || engine_post(e, (struct engine_item){.frame = f});
    engine_answered(e);
    return taken;
}

static void on_sound(void *ctx, struct coded_sound *c)
{
    (void)engine_post(ctx, (struct engine_item){.sound = c});
}

static void on_sound_done(void *ctx)
{
    engine_answered(ctx);
}

static const struct sound_thread_events sound_events = {.on_sound = on_sound,
                                                        .on_done = on_sound_done};

bool engine_is_watched(const struct engine *e)
{
    if (e->hearers)
        return true;
    for (int i = 0; i < e->ladder.size_count; i++)
        if (e->watchers[i])
            return true;
    return false;
}

void engine_begin_again(struct engine *e)
{
    e->ended = false;
    if (e->has_seek)
        return;
    e->has_seek = true;
    e->seek_to = 0;
    e->seek_ahead = false;
}

struct engine *engine_new(struct source *source, const struct ladder *ladder,
                          const struct engine_events *events, void *ctx)
{
    struct engine *e = calloc(1, sizeof(*e));
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
    log_error("cannot start the encoders");
    engine_free(e);
    return NULL;
}

int engine_start(struct engine *e, uv_loop_t *loop)
{
    e->mailbox = mailbox_new(loop, WAITING_FRAMES, on_item, item_free, e);
    e->started = e->mailbox && pthread_create(&e->thread, NULL, engine_run, e) == 0;
    if (e->started)
        return 0;
    log_error("cannot start the encoders");
    return ERR_IO;
}

int engine_add_sound(struct engine *e, struct sound_source *source, int bitrate_bps)
{
    e->sound = sound_thread_new(source, e->ladder.source_fps, bitrate_bps, &sound_events, e);
    return e->sound ? 0 : ERR_NO_MEMORY;
}

void engine_free(struct engine *e)
{
    if (!e)
        return;
    if (!e->started) {
        engine_free_parts(e);
        free_rest(e);
        return;
    }
    e->closed = true;
    pthread_mutex_lock(&e->lock);
    e->stop = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

const char *engine_sprop(const struct engine *e, int size_id)
{
    return encoder_thread_sprop(e->encoders[size_id]);
}

const char *engine_profile(const struct engine *e, int size_id)
{
    return encoder_thread_profile(e->encoders[size_id]);
}

static void watch(struct engine *e, int *count, int change)
{
    pthread_mutex_lock(&e->lock);
    *count += change;
    assert(*count >= 0);
    if (e->ended && !engine_is_watched(e))
        engine_begin_again(e);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

void engine_watch_sound(struct engine *e, int change)
{
    watch(e, &e->hearers, change);
}

void engine_watch(struct engine *e, int size_id, int account, int change)
{
    if (change > 0)
        encoder_thread_begin(e->encoders[size_id], account, 0);
    encoder_thread_set_viewers(e->encoders[size_id], e->watchers[size_id] + change);
    watch(e, &e->watchers[size_id], change);
}

void engine_begin(struct engine *e, int size_id, int account, int64_t from)
{
    encoder_thread_begin(e->encoders[size_id], account, from);
}

void engine_request_key(struct engine *e, int size_id, int account, usec_t now)
{
    encoder_thread_request_key(e->encoders[size_id], account, now);
}

void engine_set_bitrate(struct engine *e, int size_id, int bitrate_bps)
{
    if (!bitrate_bps)
        bitrate_bps = ladder_size_bitrate(&e->ladder, size_id);
    encoder_thread_set_bitrate(e->encoders[size_id], bitrate_bps);
}

void engine_repair(struct engine *e, int size_id, int64_t number, int account)
{
    const struct size_spec *size = &e->ladder.sizes[size_id];
    int64_t index = size_index_of_frame(size->fps, e->ladder.source_fps, number);
    bool shared = e->watchers[size_id] > 1; // only this thread writes it
    if (!shared || layer_temporal_id(index, size->layers) == 0)
        encoder_thread_repair(e->encoders[size_id], number, account);
}

int64_t engine_seek(struct engine *e, usec_t pts, bool ahead)
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

void engine_set_speed(struct engine *e, double speed)
{
    assert(speed >= 0.25 && speed <= 4);
    pthread_mutex_lock(&e->lock);
    e->speed = speed;
    pthread_mutex_unlock(&e->lock);
}

usec_t engine_position(struct engine *e, int64_t *number)
{
    pthread_mutex_lock(&e->lock);
    usec_t position = e->has_seek ? e->seek_to : e->position;
    *number = e->next_number;
    pthread_mutex_unlock(&e->lock);
    return position;
}

void engine_stats_of_size(struct engine *e, int size_id, struct engine_size_stats *out)
{
    encoder_thread_stats(e->encoders[size_id], out);
}

bool engine_stats_of_sound(struct engine *e, struct engine_sound_stats *out)
{
    if (e->sound)
        sound_thread_stats(e->sound, out);
    return e->sound;
}
