// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/given_media.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "media/capture/policy/given_audio.h"
#include "media/capture/policy/given_frames.h"

static const usec_t WAIT = 100 * USEC_PER_MSEC; // max. time in `next`

struct given_media {
    int references; // atomic
    struct geometry geometry;
    bool has_audio;
    pthread_mutex_t lock; // guards the members below
    pthread_cond_t changed;
    struct given_frames frames;
    struct given_audio *audio; // owned; NULL: it has none
};

struct source_given {
    struct source base;
    struct given_media *media; // one reference
    struct picture *current;   // owned; NULL: none yet
};

struct audio_source_given {
    struct audio_source base;
    struct given_media *media; // one reference
    int64_t next;              // media time after the last read, in samples
};

struct given_media *given_media_new(const struct geometry *geometry, bool has_audio)
{
    struct given_media *g = calloc(1, sizeof(*g));
    if (!g)
        return NULL;
    g->references = 1;
    g->geometry = *geometry;
    g->has_audio = has_audio;
    if (has_audio && !(g->audio = calloc(1, sizeof(*g->audio)))) {
        free(g);
        return NULL;
    }
    given_frames_init(&g->frames, geometry->fps);
    pthread_mutex_init(&g->lock, NULL);
    clock_cond_init(&g->changed);
    return g;
}

struct given_media *given_media_ref(struct given_media *g)
{
    __atomic_fetch_add(&g->references, 1, __ATOMIC_RELAXED);
    return g;
}

void given_media_unref(struct given_media *g)
{
    if (!g || __atomic_fetch_sub(&g->references, 1, __ATOMIC_ACQ_REL) > 1)
        return;
    for (int i = 0; i < g->frames.count; i++)
        picture_unref(g->frames.waiting[i].picture);
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->lock);
    free(g->audio);
    free(g);
}

// ---- The program's side

static struct picture *copy_of(const struct picture *from)
{
    struct picture *p = picture_new(from->width, from->height);
    for (int plane = 0; p && plane < 3; plane++) {
        int width = plane ? p->width / 2 : p->width, height = plane ? p->height / 2 : p->height;
        for (int y = 0; y < height; y++)
            memcpy(p->plane[plane] + (ptrdiff_t)y * p->stride[plane],
                   from->plane[plane] + (ptrdiff_t)y * from->stride[plane], (size_t)width);
    }
    return p;
}

// Returns true if the picture has the size of `g`, and each row of it can be read.
static bool is_good(const struct given_media *g, const struct picture *p)
{
    bool is_good = p->width == g->geometry.width && p->height == g->geometry.height;
    for (int plane = 0; plane < 3; plane++)
        is_good =
            is_good && p->plane[plane] && p->stride[plane] >= (plane ? p->width / 2 : p->width);
    return is_good;
}

int given_media_push_picture(struct given_media *g, const struct picture *from, usec_t captured)
{
    if (!is_good(g, from) || captured < 0)
        return ERR_UNSUPPORTED;
    usec_t now = clock_now(), wall = clock_wall();
    usec_t stamp = captured ? capture_stamp(captured, now, wall) : now;
    struct picture *p = copy_of(from);
    if (!p)
        return ERR_NO_MEMORY;
    pthread_mutex_lock(&g->lock);
    struct picture *dropped = given_frames_push(&g->frames, p, stamp, now);
    pthread_cond_signal(&g->changed);
    pthread_mutex_unlock(&g->lock);
    bool is_refused = dropped == p;
    picture_unref(dropped);
    return is_refused ? ERR_FULL : 0;
}

int given_media_push_audio(struct given_media *g, const int16_t *samples, int count,
                           usec_t captured)
{
    if (!g->has_audio || count < 0 || count > GIVEN_AUDIO_MAX || (count && !samples) ||
        captured < 0)
        return ERR_UNSUPPORTED;
    usec_t now = clock_now(), wall = clock_wall();
    usec_t stamp = captured ? capture_stamp(captured, now, wall) : now;
    pthread_mutex_lock(&g->lock);
    bool is_taken = given_audio_push(g->audio, samples, count, stamp, captured != 0, now);
    pthread_mutex_unlock(&g->lock);
    return is_taken ? 0 : ERR_FULL;
}

// ---- The source

// Waits for the next frame. Caller holds the lock.
static struct given_frame wait_frame(struct given_media *g)
{
    usec_t now = clock_now(), end = now + WAIT;
    struct given_frame f = given_frames_next(&g->frames, now);
    while (f.turn == GIVEN_WAIT && now < end) {
        usec_t until = usec_min(f.until, end);
        struct timespec t = {.tv_sec = until / USEC_PER_SEC,
                             .tv_nsec = until % USEC_PER_SEC * 1000};
        pthread_cond_timedwait(&g->changed, &g->lock, &t);
        now = clock_now();
        f = given_frames_next(&g->frames, now);
    }
    return f;
}

static int given_next(struct source *base, struct picture **out)
{
    struct source_given *s = (struct source_given *)base;
    pthread_mutex_lock(&s->media->lock);
    struct given_frame f = wait_frame(s->media);
    pthread_mutex_unlock(&s->media->lock);
    if (f.turn == GIVEN_WAIT)
        return ERR_AGAIN;
    if (f.turn == GIVEN_NEW) {
        picture_unref(s->current);
        s->current = f.picture;
    }
    struct picture *p = picture_alias(s->current); // else a frame's number is missing
    if (!p) {
        log_error("%s: no memory for a picture", base->name);
        return ERR_IO;
    }
    p->number = f.number;
    p->pts = usec_of_frames(p->number, base->fps.num, base->fps.den);
    p->capture_wall = clock_wall() - (clock_now() - f.stamp);
    *out = p;
    return 0;
}

static void given_idle(struct source *base)
{
    struct given_media *g = ((struct source_given *)base)->media;
    pthread_mutex_lock(&g->lock);
    struct picture *dropped = given_frames_idle(&g->frames);
    pthread_mutex_unlock(&g->lock);
    picture_unref(dropped);
}

static void given_free(struct source *base)
{
    struct source_given *s = (struct source_given *)base;
    given_idle(base); // the program may still push
    picture_unref(s->current);
    given_media_unref(s->media);
    free(s);
}

static const struct source_ops given_ops = {
    .next = given_next, .idle = given_idle, .free = given_free};

struct source *given_media_source(struct given_media *g)
{
    struct source_given *s = calloc(1, sizeof(*s));
    if (!s) {
        log_error("pushed pictures: no memory");
        return NULL;
    }
    s->base = (struct source){.ops = &given_ops,
                              .kind = SDP_SOURCE_CAMERA,
                              .width = g->geometry.width,
                              .height = g->geometry.height,
                              .fps = g->geometry.fps,
                              .duration = -1,
                              .live = true};
    snprintf(s->base.name, sizeof(s->base.name), "pushed pictures of %dx%d", s->base.width,
             s->base.height);
    s->media = given_media_ref(g);
    return &s->base;
}

// ---- The audio

static int interval_of(const struct given_media *g)
{
    return (int)audio_samples(usec_of_frames(1, g->geometry.fps.num, g->geometry.fps.den));
}

// The lag is changed where audio begins anew, and where it would be missing: each change is heard.
// Caller holds the lock.
static void read_at(struct audio_source_given *s, int64_t origin, int64_t from, int16_t *out,
                    int count)
{
    const struct given_audio *a = s->media->audio;
    int lag = given_audio_lag(a, interval_of(s->media));
    bool is_missing = origin + from + count - s->base.lag > a->end;
    if (from != s->next || (is_missing && lag > s->base.lag))
        s->base.lag = lag;
    given_audio_read(a, origin + from - s->base.lag, out, count);
}

static void given_read(struct audio_source *base, int64_t from, int16_t *out, int count)
{
    struct audio_source_given *s = (struct audio_source_given *)base;
    struct given_media *g = s->media;
    pthread_mutex_lock(&g->lock);
    usec_t origin = given_frames_origin(&g->frames);
    if (origin == USEC_NEVER)
        memset(out, 0, (size_t)count * AUDIO_CHANNELS * sizeof(*out));
    else
        read_at(s, audio_samples(origin), from, out, count);
    s->next = from + count;
    pthread_mutex_unlock(&g->lock);
}

static void given_audio_free(struct audio_source *base)
{
    given_media_unref(((struct audio_source_given *)base)->media);
    free(base);
}

static const struct audio_source_ops given_audio_ops = {.read = given_read,
                                                        .free = given_audio_free};

struct audio_source *given_media_audio(struct given_media *g, int *err)
{
    *err = ERR_NOT_FOUND;
    if (!g->has_audio)
        return NULL;
    struct audio_source_given *s = calloc(1, sizeof(*s));
    *err = s ? 0 : ERR_NO_MEMORY;
    if (!s)
        return NULL;
    s->base.ops = &given_audio_ops;
    s->base.lag = interval_of(g);
    s->next = -1;
    snprintf(s->base.name, sizeof(s->base.name), "pushed audio");
    s->media = given_media_ref(g);
    return &s->base;
}
