// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/catalog/file_catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "sender/catalog/film_still.h"
#include "sender/catalog/stream_open.h"
#include "sender/feed/workers.h"

// So long after a look at the file, the viewers that waited for it get the stream.
#define LOOK_HOLDS (USEC_PER_SEC / 10)

// A look at the file, and its opening. It belongs to the thread until look_done.
struct look {
    struct work work;             // first
    struct file_catalog *catalog; // borrowed; NULL: it took too long
    const struct options *options;
    struct media_guard *guard; // one reference
    struct film_mark mark;     // before: of the stream's file; after: of the file that is there
    bool is_other; // the file is another one, and `stream` was opened, or `err` is why not
    int err;
    char why[STREAM_OPEN_WHY]; // with `err`
    struct stream stream;
};

struct file_catalog {
    struct catalog base;           // first
    struct catalog *one;           // owned; of `stream`
    uv_loop_t *loop;               // borrowed
    const struct options *options; // borrowed
    struct stream *stream;         // borrowed
    struct film_mark mark;         // of the newest file that was opened, or could not be
    int err;                       // why it could not be; 0: it is that of the stream
    char why[STREAM_OPEN_WHY];     // with `err`
    usec_t until;                  // until then nothing is looked at
    int holders;
    struct catalog_hold *waiting;
    struct look *look; // borrowed of the thread; NULL: none
    struct workers *openers;
    struct workers *stills; // one thread, takes pictures of the file
    struct timer *deadline; // of the look
};

bool file_catalog_mark(const struct options *o, struct film_mark *out)
{
    struct stat st;
    if (!media_guard_find(NULL, o->source, &st) || !S_ISREG(st.st_mode))
        return false;
    *out = film_mark_of(o->source, &st, NULL);
    return true;
}

// ---- The look at the file

// Called on a thread.
static void run_look(struct work *w)
{
    struct look *l = (struct look *)w;
    struct film_mark now = {0};
    bool is_there = file_catalog_mark(l->options, &now);
    l->is_other = !is_there || !film_mark_is_same(&now, &l->mark);
    l->mark = now;
    snprintf(l->why, sizeof(l->why), "%s", err_text(ERR_NOT_FOUND));
    if (l->is_other)
        l->err = is_there
                     ? stream_open_why(&l->stream, l->guard, l->options, l->options->source, l->why)
                     : ERR_NOT_FOUND;
}

static void free_look(struct look *l)
{
    if (l->is_other && !l->err)
        stream_destroy(&l->stream);
    media_guard_unref(l->guard);
    free(l);
}

static void drop_look(struct work *w)
{
    free_look((struct look *)w);
}

// The viewers that wait repeat their requests.
static void end_look(struct file_catalog *c, usec_t now)
{
    c->look = NULL;
    c->until = now + LOOK_HOLDS;
    timer_set(c->deadline, USEC_NEVER);
    while (c->waiting) {
        struct catalog_hold *h = c->waiting;
        c->waiting = h->next;
        h->film = NULL;
        h->on_ready(h->ctx, now);
    }
}

static void exchange(struct file_catalog *c, struct look *l)
{
    struct stream *s = c->stream;
    log_info("%s has changed: it was opened again", c->options->source);
    l->stream.viewer_timeout = s->viewer_timeout;
    l->stream.max_viewers = s->max_viewers;
    l->stream.fragment_bytes = s->fragment_bytes;
    l->stream.book = s->book;
    stream_close_stats(s);
    stream_destroy(s);
    *s = l->stream;
    l->is_other = false; // it is the catalog's now
}

static void look_done(struct work *w, usec_t now)
{
    struct look *l = (struct look *)w;
    struct file_catalog *c = l->catalog;
    if (!c) {
        free_look(l);
        return;
    }
    if (l->is_other) {
        if (!l->err && (l->err = stream_start(&l->stream, c->loop)) != 0) {
            snprintf(l->why, sizeof(l->why), "%s", err_text(l->err));
            stream_destroy(&l->stream);
        }
        c->mark = l->mark;
        c->err = l->err;
        memcpy(c->why, l->why, sizeof(c->why));
        if (l->err)
            log_warn("%s has changed, and is not available: %s", c->options->source, l->why);
        else
            exchange(c, l);
    }
    free_look(l);
    end_look(c, now);
}

static void on_deadline(void *ctx, usec_t now)
{
    struct file_catalog *c = ctx;
    log_warn("%s: not open after %d s", c->options->source,
             (int)(CATALOG_OPEN_LIMIT / USEC_PER_SEC));
    media_guard_stop(c->look->guard);
    workers_late(c->openers, &c->look->work);
    c->look->catalog = NULL;
    c->mark = (struct film_mark){0}; // the next look opens it
    c->err = ERR_TIMED_OUT;
    snprintf(c->why, sizeof(c->why), "%s", err_text(c->err));
    end_look(c, now);
}

// Returns CATALOG_WAITS, or an error.
static int begin_look(struct file_catalog *c, usec_t now)
{
    struct look *l = calloc(1, sizeof(*l));
    if (!l)
        return ERR_NO_MEMORY;
    *l = (struct look){.work = {.run = run_look, .done = look_done, .drop = drop_look},
                       .catalog = c,
                       .options = c->options,
                       .guard = media_guard_new(now + CATALOG_OPEN_LIMIT),
                       .mark = c->mark};
    int err = l->guard ? workers_add(c->openers, &l->work) : ERR_NO_MEMORY;
    if (err) {
        free_look(l);
        return err == ERR_FULL ? ERR_AGAIN : err;
    }
    c->look = l;
    timer_set(c->deadline, now + CATALOG_OPEN_LIMIT);
    return CATALOG_WAITS;
}

// ---- The catalog

static void file_leave(struct catalog *base, struct catalog_hold *h)
{
    struct file_catalog *c = (struct file_catalog *)base;
    for (struct catalog_hold **at = &c->waiting; *at; at = &(*at)->next)
        if (*at == h) {
            *at = h->next;
            h->film = NULL;
            return;
        }
    if (h->film && --c->holders == 0)
        c->until = 0;
    h->film = NULL;
}

static int file_take(struct catalog *base, const char *url_path, struct catalog_hold *h, bool only,
                     struct stream **out)
{
    struct file_catalog *c = (struct file_catalog *)base;
    usec_t now = clock_now();
    struct stream *stream;
    int err = c->one->ops->take(c->one, url_path, h, only, &stream);
    if (err)
        return err;
    bool waits = c->look != NULL;
    if (!h->film && !waits && c->holders == 0 && now >= c->until) {
        err = begin_look(c, now);
        waits = err == CATALOG_WAITS;
        if (!waits)
            return err;
    }
    if (waits) {
        if (!h->film) {
            h->film = (struct film *)c;
            h->next = c->waiting;
            c->waiting = h;
        }
        return CATALOG_WAITS;
    }
    if (c->err && !h->film) {
        h->refusal.status = 503;
        snprintf(h->refusal.text, sizeof(h->refusal.text),
                 "the film has changed, and is not available: %s (see the server's log)", c->why);
        return CATALOG_REFUSED;
    }
    c->holders += h->film == NULL;
    h->film = (struct film *)c;
    *out = stream;
    return 0;
}

static struct stream_media *file_still(struct catalog *base, struct still_wish *w, int *err)
{
    struct file_catalog *c = (struct file_catalog *)base;
    bool is_it = strcmp(w->path, c->options->path + 1) == 0;
    *err = is_it ? ERR_NO_MEMORY : ERR_UNSUPPORTED;
    return is_it ? film_still_new(c->stills, NULL, c->options->source, w->at) : NULL;
}

static const char *file_recorded(struct catalog *base, const char *path)
{
    struct file_catalog *c = (struct file_catalog *)base;
    return c->one->ops->recorded(c->one, path);
}

static void file_stats(struct catalog *base, struct stats *out, session_stats_fn *each, void *ctx,
                       usec_t now)
{
    struct file_catalog *c = (struct file_catalog *)base;
    c->one->ops->stats(c->one, out, each, ctx, now);
}

static int file_set_highest(struct catalog *base, const char *path, int level, usec_t now)
{
    struct file_catalog *c = (struct file_catalog *)base;
    return c->one->ops->set_highest(c->one, path, level, now);
}

static void file_free(struct catalog *base)
{
    struct file_catalog *c = (struct file_catalog *)base;
    if (c->look)
        media_guard_stop(c->look->guard);
    workers_free(c->openers);
    workers_free(c->stills);
    timer_free(c->deadline);
    if (c->one)
        c->one->ops->free(c->one);
    free(c);
}

struct catalog *file_catalog_new(uv_loop_t *loop, const struct options *o, struct stream *stream,
                                 const struct film_mark *mark)
{
    static const struct catalog_ops ops = {.take = file_take,
                                           .leave = file_leave,
                                           .still = file_still,
                                           .recorded = file_recorded,
                                           .stats = file_stats,
                                           .set_highest = file_set_highest,
                                           .free = file_free};
    struct file_catalog *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->base.ops = &ops;
    c->base.where = o->path;
    c->loop = loop;
    c->options = o;
    c->stream = stream;
    c->mark = *mark;
    c->one = catalog_new_one(o->path, stream);
    c->openers = workers_new(loop, 1, 1);
    c->stills = workers_new(loop, 1, FILM_STILLS);
    c->deadline = timer_new(loop, on_deadline, c);
    if (c->one && c->openers && c->stills && c->deadline)
        return &c->base;
    file_free(&c->base);
    return NULL;
}
