// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/catalog/mount_catalog.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/put.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "sender/catalog/stream_open.h"
#include "sender/feed/workers.h"
#include "server/policy/catalog_path.h"

struct mount_catalog;
struct mount;

enum film_state { FILM_OPENING, FILM_OPEN, FILM_LATE }; // late: its thread is still opening it

// The stream of a source. While a thread opens it (until film_done), `stream` and `work_err` belong
// to the thread.
struct film {
    struct work work;             // first
    struct mount *mount;          // borrowed; NULL: the catalog is freed
    const struct options *source; // borrowed
    struct media_guard *guard;    // one reference
    enum film_state state;
    atomic_bool begun; // a thread has begun to open it
    int work_err;      // result of the thread
    usec_t deadline;   // with FILM_OPENING
    struct catalog_hold *holds;
    struct stream stream;
};

// A path. At most one thread opens its source, so sources that hang block no other one.
struct mount {
    struct mount_catalog *catalog; // borrowed
    const struct options *source;  // borrowed
    struct film *film;             // owned; NULL: not open
    int err;                       // why it is not open; 0: it was not tried
    usec_t failed;                 // when
};

struct mount_catalog {
    struct catalog base;           // first
    uv_loop_t *loop;               // borrowed
    const struct options *options; // borrowed
    struct workers *openers;       // owned
    struct timer *deadline;        // owned; the earliest one of the films
    int count;
    struct mount mounts[SOURCES_MAX];
};

// ---- Films

static void film_free(struct film *f)
{
    media_guard_unref(f->guard);
    free(f);
}

static void close_film(struct film *f)
{
    media_guard_stop(f->guard);
    stream_close_stats(&f->stream);
    stream_destroy(&f->stream);
    film_free(f);
}

static void set_deadline(struct mount_catalog *c)
{
    usec_t first = USEC_NEVER;
    for (int i = 0; i < c->count; i++)
        if (c->mounts[i].film && c->mounts[i].film->state == FILM_OPENING)
            first = usec_min(first, c->mounts[i].film->deadline);
    timer_set(c->deadline, first);
}

// Called on a thread.
static void run_film(struct work *w)
{
    struct film *f = (struct film *)w;
    atomic_store(&f->begun, true);
    f->work_err = media_guard_check(f->guard);
    if (!f->work_err)
        f->work_err = stream_open(&f->stream, f->guard, f->source, f->source->source);
}

static void drop_film(struct work *w)
{
    struct film *f = (struct film *)w;
    if (atomic_load(&f->begun) && !f->work_err)
        stream_destroy(&f->stream);
    film_free(f);
}

// The source cannot be opened: the viewers that wait repeat their requests, which are refused.
static void fail(struct mount *m, int err, usec_t now)
{
    struct film *f = m->film;
    m->err = err;
    m->failed = now;
    log_warn("%s is not available: %s", m->source->path, err_text(err));
    while (f && f->holds) {
        struct catalog_hold *h = f->holds;
        f->holds = h->next;
        h->film = NULL;
        h->on_ready(h->ctx, now);
    }
}

static void announce(const struct mount *m)
{
    const struct stream_media *media = m->film->stream.media;
    const struct ladder *l = &media->ladder;
    const struct size_spec *top = &l->sizes[l->size_count - 1];
    if (media->codec == SDP_SYNTHETIC)
        log_info("%s is open: %s", m->source->path, media->title);
    else
        log_info("%s is open: %s; %d level%s, up to %dx%d and %d kbit/s", m->source->path,
                 media->title, l->level_count, l->level_count == 1 ? "" : "s", top->width,
                 top->height, l->levels[l->level_count - 1].bitrate_bps / 1000);
}

static void film_done(struct work *w, usec_t now)
{
    struct film *f = (struct film *)w;
    struct mount *m = f->mount;
    int err = f->work_err;
    bool is_late = f->state == FILM_LATE;
    if (!err && (is_late || (err = stream_start(&f->stream, m->catalog->loop)) != 0))
        stream_destroy(&f->stream);
    if (is_late || err) {
        if (!is_late)
            fail(m, err, now);
        m->film = NULL;
        film_free(f);
    } else {
        const struct options *o = f->source;
        f->state = FILM_OPEN;
        f->stream.viewer_timeout = o->timeout * USEC_PER_SEC;
        f->stream.max_viewers = o->max_viewers;
        f->stream.fragment_bytes = (size_t)o->fragment;
        f->stream.book = &m->catalog->base.book;
        m->err = 0;
        announce(m);
        for (struct catalog_hold *h = f->holds, *next; h; h = next) {
            next = h->next;
            h->on_ready(h->ctx, now);
        }
    }
    set_deadline(m->catalog);
}

static void on_deadline(void *ctx, usec_t now)
{
    struct mount_catalog *c = ctx;
    for (int i = 0; i < c->count; i++) {
        struct film *f = c->mounts[i].film;
        if (!f || f->state != FILM_OPENING || f->deadline > now)
            continue;
        f->state = FILM_LATE;
        media_guard_stop(f->guard);
        fail(&c->mounts[i], ERR_TIMED_OUT, now);
    }
    set_deadline(c);
}

static void open_film(struct mount *m, usec_t now)
{
    struct film *f = calloc(1, sizeof(*f));
    if (f) {
        f->work = (struct work){.run = run_film, .done = film_done, .drop = drop_film};
        f->mount = m;
        f->source = m->source;
        f->deadline = now + CATALOG_OPEN_LIMIT;
        f->guard = media_guard_new(f->deadline);
    }
    if (!f || !f->guard || workers_add(m->catalog->openers, &f->work) != 0) {
        if (f)
            film_free(f);
        fail(m, ERR_NO_MEMORY, now);
        return;
    }
    m->film = f;
    set_deadline(m->catalog);
}

// ---- The catalog

static void mount_leave(struct catalog *base, struct catalog_hold *h)
{
    (void)base;
    if (!h->film)
        return;
    struct catalog_hold **at = &h->film->holds;
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    h->film = NULL;
}

static struct mount *find(struct mount_catalog *c, const char *name)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->mounts[i].source->path + 1, name) == 0)
            return &c->mounts[i];
    return NULL;
}

static int refuse(const struct mount *m, struct catalog_hold *h)
{
    h->refusal.status = 503;
    snprintf(h->refusal.text, sizeof(h->refusal.text),
             "%s is not available: %s (see the server's log); try again later", m->source->path,
             err_text(m->err));
    return CATALOG_REFUSED;
}

static int mount_take(struct catalog *base, const char *url_path, struct catalog_hold *h, bool only,
                      struct stream **out)
{
    struct mount_catalog *c = (struct mount_catalog *)base;
    char path[CATALOG_PATH_MAX];
    usec_t now = clock_now();
    if (catalog_path_decode(url_path, path, sizeof(path)) != 0)
        return ERR_NOT_FOUND;
    if (!*path)
        return ERR_END;
    if (h->film && strcmp(h->film->source->path + 1, path) != 0) {
        if (only)
            return ERR_NOT_FOUND;
        mount_leave(base, h);
    }
    struct mount *m = find(c, path);
    if (!h->film && !m)
        return ERR_NOT_FOUND;
    if (!h->film && !m->film && m->err && now < m->failed + MOUNT_RETRY)
        return refuse(m, h);
    if (!h->film && !m->film)
        open_film(m, now);
    if (!h->film && (!m->film || m->film->state == FILM_LATE))
        return refuse(m, h);
    if (!h->film) {
        h->film = m->film;
        h->next = h->film->holds;
        h->film->holds = h;
    }
    if (h->film->state == FILM_OPENING)
        return CATALOG_WAITS;
    *out = &h->film->stream;
    return 0;
}

static void list_mount(const struct mount *m, struct put *out)
{
    const struct film *f = m->film;
    put_format(out, "%s\t", m->source->path);
    if (!f || f->state != FILM_OPEN) {
        put_format(out, "%s\t?\r\n", m->err ? "failed" : "?");
        return;
    }
    const struct stream_media *media = f->stream.media;
    if (media->duration < 0)
        put_format(out, "live\t");
    else
        put_format(out, "%.1f\t", media->duration);
    bool has_pictures = media->codec != SDP_SYNTHETIC;
    for (int i = media->ladder.size_count - 1; i >= 0 && has_pictures; i--)
        put_format(out, "%dx%d%s", media->ladder.sizes[i].width, media->ladder.sizes[i].height,
                   i ? "," : "");
    put_format(out, "%s\r\n", has_pictures ? "" : "?");
}

static int mount_list(struct catalog *base, struct catalog_hold *h, char *out, size_t cap,
                      int *count)
{
    (void)h;
    struct mount_catalog *c = (struct mount_catalog *)base;
    struct put put = put_into(out, cap);
    for (int i = 0; i < c->count; i++)
        list_mount(&c->mounts[i], &put);
    *count = c->count;
    return put.full ? ERR_NO_MEMORY : 0;
}

static void mount_stats(struct catalog *base, struct stats *out, session_stats_fn *each, void *ctx,
                        usec_t now)
{
    struct mount_catalog *c = (struct mount_catalog *)base;
    snprintf(out->source, sizeof(out->source), "%d source%s", c->count, c->count == 1 ? "" : "s");
    catalog_begin_stats(base, out);
    for (int i = 0; i < c->count; i++) {
        struct mount *m = &c->mounts[i];
        if (m->film && m->film->state == FILM_OPEN)
            stream_collect_stats(&m->film->stream, m->source->path, out, each, ctx, now);
    }
}

static void mount_free(struct catalog *base)
{
    struct mount_catalog *c = (struct mount_catalog *)base;
    for (int i = 0; i < c->count; i++) {
        struct film *f = c->mounts[i].film;
        if (!f)
            continue;
        assert(!f->holds);
        if (f->state == FILM_OPEN)
            close_film(f);
        else // drop_film frees it when its thread returns
            media_guard_stop(f->guard);
    }
    workers_free(c->openers);
    timer_free(c->deadline);
    free(c);
}

struct catalog *mount_catalog_new(uv_loop_t *loop, const struct options *o)
{
    static const struct catalog_ops ops = {.take = mount_take,
                                           .leave = mount_leave,
                                           .list = mount_list,
                                           .stats = mount_stats,
                                           .free = mount_free};
    struct mount_catalog *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->base.ops = &ops;
    c->base.items = "stream";
    c->loop = loop;
    c->options = o;
    c->deadline = timer_new(loop, on_deadline, c);
    c->openers = workers_new(loop, SOURCES_MAX, SOURCES_MAX);
    if (!c->deadline || !c->openers) {
        mount_free(&c->base);
        return NULL;
    }
    assert(o->source_count <= SOURCES_MAX);
    c->count = o->source_count;
    for (int i = 0; i < c->count; i++) {
        c->mounts[i] = (struct mount){.catalog = c, .source = &o->sources[i]};
        open_film(&c->mounts[i], clock_now());
    }
    return &c->base;
}
