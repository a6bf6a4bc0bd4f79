// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/catalog/film_still.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "media/source/source.h"
#include "sender/catalog/folder_list.h"

#define LATEST (10 * USEC_PER_SEC)

struct film_still {
    struct stream_media base; // first
    struct workers *workers;  // borrowed
    struct job *job;          // owned by the workers; NULL: no picture is being taken
    char root[PATH_MAX];      // empty: `path` is the name of a file
    char path[PATH_MAX];
    usec_t at;
};

struct job {
    struct work work;            // first
    struct film_still *still;    // borrowed; NULL: the picture is no longer wanted
    struct picture_taker *taker; // borrowed
    struct media_guard *guard;   // one reference
    struct picture *picture;     // one reference; the result, NULL: `err`
    int err;
    char root[PATH_MAX];
    char path[PATH_MAX];
    usec_t at;
};

static void job_free(struct job *j)
{
    if (j->still)
        j->still->job = NULL;
    picture_unref(j->picture);
    media_guard_unref(j->guard);
    free(j);
}

static void drop(struct work *w)
{
    job_free((struct job *)w);
}

// Called on a thread.
static void run(struct work *w)
{
    struct job *j = (struct job *)w;
    char real[PATH_MAX];
    struct stat st;
    j->err = media_guard_check(j->guard);
    if (j->err)
        return;
    bool is_there = *j->root ? folder_real_file(j->root, j->path, real, &st)
                             : media_guard_find(j->guard, j->path, &st);
    j->err = !is_there ? ERR_NOT_FOUND : !S_ISREG(st.st_mode) ? ERR_UNSUPPORTED : 0;
    if (j->err)
        return;
    struct source *s = source_file_glance(*j->root ? real : j->path, j->guard, &j->err);
    if (!s)
        return;
    s->shows_way = true; // the pictures from the key frame on to the target are not decoded first
    usec_t tenth = s->duration > 0 ? (usec_t)(s->duration * USEC_PER_SEC / 10) : 0;
    usec_t at = j->at < 0 ? usec_min(tenth, LATEST) : usec_min(j->at, 10 * tenth);
    if (s->ops->seek && at > 0)
        (void)s->ops->seek(s, at);
    j->err = s->ops->next(s, &j->picture);
    if (j->err)
        j->picture = NULL;
    j->err = j->err == ERR_END ? ERR_UNSUPPORTED : j->err;
    source_free(s);
}

static void done(struct work *w, usec_t now)
{
    struct job *j = (struct job *)w;
    struct film_still *s = j->still;
    struct picture_taker *taker = j->taker;
    const struct taken_picture taken = {.picture = j->picture, .err = j->err};
    j->picture = NULL;
    job_free(j);
    if (s)
        taker->on_picture(taker, &taken, now);
    picture_unref(taken.picture);
}

// If there is no room for it, the caller's time for the picture runs out.
static void take(struct stream_media *m, struct picture_taker *t)
{
    struct film_still *s = (struct film_still *)m;
    assert(!s->job);
    struct job *j = calloc(1, sizeof(*j));
    if (!j)
        return;
    j->work = (struct work){.run = run, .done = done, .drop = drop};
    j->taker = t;
    usec_t deadline = clock_now() + FILM_STILL_LIMIT;
    j->guard = *s->root ? media_guard_new_below(s->root, deadline) : media_guard_new(deadline);
    j->at = s->at;
    snprintf(j->root, sizeof(j->root), "%s", s->root);
    snprintf(j->path, sizeof(j->path), "%s", s->path);
    if (!j->guard || workers_add(s->workers, &j->work) != 0) {
        job_free(j);
        return;
    }
    j->still = s;
    s->job = j;
}

static void leave(struct stream_media *m, struct picture_taker *t)
{
    struct film_still *s = (struct film_still *)m;
    (void)t;
    if (!s->job)
        return;
    media_guard_stop(s->job->guard);
    s->job->still = NULL;
    s->job = NULL;
}

static void free_still(struct stream_media *m)
{
    leave(m, NULL);
    free(m);
}

struct stream_media *film_still_new(struct workers *workers, const char *root, const char *path,
                                    usec_t at)
{
    static const struct stream_media_ops ops = {.take = take, .leave = leave, .free = free_still};
    struct film_still *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->base.ops = &ops;
    s->workers = workers;
    s->at = at;
    snprintf(s->root, sizeof(s->root), "%s", root ? root : "");
    snprintf(s->path, sizeof(s->path), "%s", path);
    return &s->base;
}
