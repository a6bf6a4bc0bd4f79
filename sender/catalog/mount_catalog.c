// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/catalog/mount_catalog.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/put.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/wire/request_path.h"
#include "media/capture/source_capture.h"
#include "sender/camera/publisher.h"
#include "sender/catalog/film_still.h"
#include "sender/catalog/stream_open.h"
#include "sender/feed/workers.h"
#include "sender/record/recorder.h"

struct mount_catalog;
struct mount;

// The threads of a film close its device after the film: it is opened again this much later.
#define DEVICE_CLOSES USEC_PER_SEC
enum { MOUNTS_MAX = SOURCES_MAX + 48 }; // with those of clients at paths with "*"

// The options of one reading of the configuration, or of one change of it. They live while a source
// uses them.
struct generation {
    const struct options *options;
    struct options *owned;   // the same; NULL: borrowed
    struct generation *base; // that they borrow of, one holder; NULL: none
    int holders;
};

enum film_state { FILM_OPENING, FILM_OPEN, FILM_LATE }; // late: its thread is still opening it

// The stream of a source. While a thread opens it (until film_done), `stream` and `work_err` belong
// to the thread.
struct film {
    struct work work;              // first
    struct mount_catalog *catalog; // borrowed
    struct mount *mount;           // borrowed; NULL: the configuration has it no longer
    struct film *next;             // of those without mount
    int serial;                    // of the catalog's films
    struct generation *generation; // one holder
    const struct options *source;  // borrowed of `generation`, or `own`
    struct options *own;           // owned: with the publisher; NULL: there is none
    struct media_guard *guard;     // one reference
    enum film_state state;
    atomic_bool begun;         // a thread has begun to open it
    int work_err;              // result of the thread
    char why[STREAM_OPEN_WHY]; // with an error
    usec_t deadline;           // with FILM_OPENING
    struct catalog_hold *holds;
    struct stream stream;
    struct recorder *recorder; // owned; NULL: it is not recorded
};

// A path. At most one thread opens its source, so sources that hang block no other one.
struct mount {
    struct mount_catalog *catalog; // borrowed
    const struct options *source;  // borrowed of the catalog's generation, or `own`
    struct options *own;           // owned: of a path with "*", for one client; NULL: it is none
    struct published *client;      // whose media it has; NULL: none
    struct published *waiting;     // clients that take over when they send media
    struct film *film;             // owned; NULL: not open
    int highest;                   // level of its viewers: of struct stream
    bool pauses;                   // it is not recorded now, though it could be
    bool stale;                    // `film` is opened anew as soon as it can be;
    usec_t reopen;                 // with `stale` and no film: then
    usec_t retry;                  // of a source to be recorded that is not open: then
    int err;                       // why it is not open; 0: it was not tried
    char why[STREAM_OPEN_WHY];     // with `err`: for viewers
    usec_t failed;                 // when
};

// A client's hold on a path of --publish. Its session owns it.
struct published {
    struct publication base;     // first
    struct mount *mount;         // borrowed; NULL: the path is not offered any longer
    struct published *next;      // of those that wait
    struct publisher *publisher; // the owner's end
    const struct publication_events *events;
    void *ctx; // borrowed
};

struct mount_catalog {
    struct catalog base;           // first
    uv_loop_t *loop;               // borrowed
    struct generation *generation; // one holder
    struct workers *openers;       // owned
    struct workers *stills;        // owned; one thread, takes pictures of films
    struct timer *deadline;        // owned; the earliest one of the films
    int films;                     // were made
    int count;
    struct mount *mounts[MOUNTS_MAX]; // owned
    int past_count;
    struct film *past; // owned: films without mount
};

// ---- Generations

// Takes over `owned`, if it is not NULL. `base`: NULL: none. NULL: no memory, and it is not taken
// over.
static struct generation *generation_new(const struct options *o, struct options *owned,
                                         struct generation *base)
{
    struct generation *g = malloc(sizeof(*g));
    if (g)
        *g = (struct generation){.options = o, .owned = owned, .base = base, .holders = 1};
    if (g && base)
        base->holders++;
    return g;
}

static void generation_drop(struct generation *g)
{
    if (!g || --g->holders)
        return;
    if (g->owned)
        options_destroy(g->owned);
    free(g->owned);
    generation_drop(g->base);
    free(g);
}

// ---- Films

static void film_free(struct film *f)
{
    media_guard_unref(f->guard);
    generation_drop(f->generation);
    if (f->own)
        publisher_unref(f->own->publisher);
    free(f->own);
    free(f);
}

// Waits for the disk of its recording, until `deadline`.
static void end_recorder(struct film *f, usec_t deadline)
{
    recorder_free(f->recorder, usec_max(0, deadline - clock_now()));
    f->recorder = NULL;
}

// Closes an open film that no viewer holds. `deadline`: of end_recorder.
static void close_film_until(struct film *f, usec_t deadline)
{
    assert(!f->holds);
    end_recorder(f, deadline);
    media_guard_stop(f->guard);
    stream_close_stats(&f->stream);
    stream_destroy(&f->stream);
    film_free(f);
}

static void close_film(struct film *f)
{
    close_film_until(f, clock_now() + RECORDER_END);
}

static void set_deadline(struct mount_catalog *c)
{
    usec_t first = USEC_NEVER;
    for (int i = 0; i < c->count; i++) {
        const struct mount *m = c->mounts[i];
        if (m->film && m->film->state == FILM_OPENING)
            first = usec_min(first, m->film->deadline);
        if (!m->film && m->stale)
            first = usec_min(first, m->reopen);
        if (!m->film)
            first = usec_min(first, m->retry);
    }
    timer_set(c->deadline, first);
}

// Called on a thread.
static void run_film(struct work *w)
{
    struct film *f = (struct film *)w;
    f->work_err = media_guard_check(f->guard);
    if (f->work_err)
        return; // it waited too long for a thread
    atomic_store(&f->begun, true);
    f->work_err = stream_open_why(&f->stream, f->guard, f->source, f->source->source, f->why);
}

static void drop_film(struct work *w)
{
    struct film *f = (struct film *)w;
    if (atomic_load(&f->begun) && !f->work_err)
        stream_destroy(&f->stream);
    film_free(f);
}

// The viewers that wait repeat their requests.
static void wake(struct film *f, usec_t now)
{
    while (f->holds) {
        struct catalog_hold *h = f->holds;
        f->holds = h->next;
        h->film = NULL;
        h->on_ready(h->ctx, now);
    }
}

// The source cannot be opened: the viewers that wait are then refused.
static void fail(struct mount *m, int err, const char *why, usec_t now)
{
    m->err = err;
    snprintf(m->why, sizeof(m->why), "%s", why);
    m->failed = now;
    m->retry = m->source->record && !m->pauses ? now + RECORDER_RETRY : USEC_NEVER;
    log_warn("%s is not available: %s", m->source->path, why);
    if (m->film)
        wake(m->film, now);
    if (m->client)
        m->client->events->on_over(m->client->ctx, why, now);
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

static void start_recorder(struct film *f)
{
    const struct options *o = f->source;
    struct recorder_config config = {.media = f->stream.media,
                                     .pattern = o->record,
                                     .segment = o->record_segment,
                                     .keep = o->record_keep};
    if (!o->record || f->mount->pauses)
        return;
    if (f->stream.media->reorders)
        log_error("%s is not recorded: it is a prepared file, which is a recording already",
                  o->path);
    else if (!(f->recorder = recorder_new(f->catalog->loop, &config)))
        log_error("%s is not recorded", o->path);
}

static void set_limits(struct stream *s, const struct options *o)
{
    s->viewer_timeout = o->timeout * USEC_PER_SEC;
    s->max_viewers = o->max_viewers;
    s->fragment_bytes = (size_t)o->fragment;
}

static void open_film(struct mount *m, usec_t now);

static void remove_past(struct film *f)
{
    struct film **at = &f->catalog->past;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    f->catalog->past_count--;
}

static void film_done(struct work *w, usec_t now)
{
    struct film *f = (struct film *)w;
    struct mount *m = f->mount;
    struct mount_catalog *c = f->catalog;
    int err = f->work_err;
    bool is_unwanted = f->state == FILM_LATE || !m || m->stale;
    if (!err && (is_unwanted || (err = stream_start(&f->stream, c->loop)) != 0))
        stream_destroy(&f->stream);
    if (!m)
        remove_past(f);
    if (!is_unwanted && !err) {
        f->state = FILM_OPEN;
        set_limits(&f->stream, m->source);
        stream_set_highest(&f->stream, m->highest, now);
        f->stream.book = &c->base.book;
        m->err = 0;
        announce(m);
        start_recorder(f);
        for (struct catalog_hold *h = f->holds, *next; h; h = next) {
            next = h->next;
            h->on_ready(h->ctx, now);
        }
    } else {
        if (!is_unwanted)
            fail(m, err, err == f->work_err && *f->why ? f->why : err_text(err), now);
        wake(f, now);
        film_free(f);
        if (m)
            m->film = NULL;
        if (m && m->stale)
            open_film(m, now);
    }
    set_deadline(c);
}

// The film's thread may hang: another one takes its place.
static void give_up(struct film *f)
{
    if (atomic_load(&f->begun))
        workers_late(f->catalog->openers, &f->work);
}

static void on_deadline(void *ctx, usec_t now)
{
    struct mount_catalog *c = ctx;
    for (int i = 0; i < c->count; i++) {
        struct mount *m = c->mounts[i];
        struct film *f = m->film;
        if (!f && ((m->stale && m->reopen <= now) || m->retry <= now))
            open_film(m, now);
        if (!f || f->state != FILM_OPENING || f->deadline > now)
            continue;
        f->state = FILM_LATE;
        media_guard_stop(f->guard);
        give_up(f);
        fail(c->mounts[i], ERR_TIMED_OUT, err_text(ERR_TIMED_OUT), now);
    }
    set_deadline(c);
}

// Gives the film its own options, with the client that publishes. Returns false if there is no
// memory.
static bool take_publisher(struct film *f, const struct mount *m)
{
    f->own = malloc(sizeof(*f->own));
    if (!f->own)
        return false;
    *f->own = *m->source;
    f->own->path = f->own->mount;
    f->own->publisher = publisher_ref(m->client->publisher);
    f->source = f->own;
    return true;
}

static void open_film(struct mount *m, usec_t now)
{
    struct film *f = calloc(1, sizeof(*f));
    m->stale = false;
    m->retry = USEC_NEVER;
    if (f) {
        f->work = (struct work){.run = run_film, .done = film_done, .drop = drop_film};
        f->catalog = m->catalog;
        f->mount = m;
        f->serial = ++m->catalog->films;
        f->generation = m->catalog->generation;
        f->generation->holders++;
        f->source = m->source;
        f->deadline = now + CATALOG_OPEN_LIMIT;
        f->guard = media_guard_new(f->deadline);
    }
    if (!f || !f->guard || (m->client && !take_publisher(f, m)) ||
        workers_add(m->catalog->openers, &f->work) != 0) {
        if (f)
            film_free(f);
        fail(m, ERR_NO_MEMORY, err_text(ERR_NO_MEMORY), now);
        return;
    }
    m->film = f;
    set_deadline(m->catalog);
}

// ---- The catalog

static void mount_leave(struct catalog *base, struct catalog_hold *h)
{
    (void)base;
    struct film *f = h->film;
    if (!f)
        return;
    struct catalog_hold **at = &f->holds;
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    h->film = NULL;
    if (f->holds || f->state != FILM_OPEN)
        return;
    struct mount *m = f->mount;
    if (!m) {
        log_info("%s, as it was before, is closed", f->source->path);
        remove_past(f);
        close_film(f);
    } else if (m->stale) {
        usec_t now = clock_now();
        bool is_device = source_is_capture(f->source->source);
        m->film = NULL;
        close_film(f);
        if (!is_device) {
            open_film(m, now);
            return;
        }
        m->reopen = now + DEVICE_CLOSES;
        set_deadline(m->catalog);
    }
}

static struct mount *mount_new(struct mount_catalog *c) // NULL: no memory
{
    struct mount *m = malloc(sizeof(*m));
    if (m)
        *m = (struct mount){.catalog = c, .highest = LADDER_MAX_LEVELS - 1, .retry = USEC_NEVER};
    return m;
}

// Returns true if a mount is what other paths match, and has no source itself.
static bool is_pattern(const struct mount *m)
{
    return source_publish_is_any(m->source->path);
}

static struct mount *find(struct mount_catalog *c, const char *name)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->mounts[i]->source->path + 1, name) == 0 && !is_pattern(c->mounts[i]))
            return c->mounts[i];
    return NULL;
}

static bool is_published(const struct options *source)
{
    return strcmp(source->source, SOURCE_PUBLISHED) == 0;
}

static int refuse(const struct mount *m, struct catalog_hold *h)
{
    h->refusal.status = 503;
    snprintf(h->refusal.text, sizeof(h->refusal.text),
             "%s is not available: %s (see the server's log); try again later", m->source->path,
             m->why);
    return CATALOG_REFUSED;
}

// No client publishes to the path, or its media is not taken.
static int refuse_away(const struct mount *m, struct catalog_hold *h)
{
    h->refusal.status = 404;
    snprintf(h->refusal.text, sizeof(h->refusal.text),
             "no client publishes to %s now; try again later", m->source->path);
    return CATALOG_REFUSED;
}

static int mount_take(struct catalog *base, const char *url_path, struct catalog_hold *h, bool only,
                      struct stream **out)
{
    struct mount_catalog *c = (struct mount_catalog *)base;
    char path[REQUEST_PATH_MAX];
    usec_t now = clock_now();
    if (request_path_decode(url_path, path, sizeof(path)) != 0)
        return ERR_NOT_FOUND;
    if (!*path)
        return ERR_END;
    bool is_other = h->film && strcmp(h->film->source->path + 1, path) != 0;
    if (is_other && only)
        return ERR_NOT_FOUND;
    if (is_other || (h->film && !h->film->mount && !only)) // or that of before a reload
        mount_leave(base, h);
    struct mount *m = find(c, path);
    if (!h->film && !m)
        return ERR_NOT_FOUND;
    if (!h->film && !m->film && is_published(m->source))
        return refuse_away(m, h);
    if (!h->film && !m->film && m->err && now < m->failed + MOUNT_RETRY)
        return refuse(m, h);
    if (!h->film && !m->film && m->stale) {
        m->err = ERR_AGAIN; // its device is being closed
        return refuse(m, h);
    }
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
        put_format(out, "%s\t?\r\n",
                   is_published(m->source) && !f ? "away"
                   : m->err                      ? "failed"
                                                 : "?");
        return;
    }
    const struct stream_media *media = f->stream.media;
    if (media->duration < 0)
        put_format(out, "live\t");
    else
        put_format(out, "%.1f\t", media->duration);
    bool has_pictures = media->codec != SDP_SYNTHETIC;
    int top = media->ladder.size_count - 1;
    for (int i = top; i >= 0 && has_pictures; i--)
        if (!ladder_size_repeats(&media->ladder, i))
            put_format(out, "%s%dx%d", i < top ? "," : "", media->ladder.sizes[i].width,
                       media->ladder.sizes[i].height);
    struct media_away away;
    put_format(out, "%s", has_pictures ? "" : "?");
    if (media->ops->away && media->ops->away(media, &away))
        put_format(out, "\taway=%" PRId64,
                   (clock_wall() - (clock_now() - away.since)) / USEC_PER_SEC);
    put_format(out, "\r\n");
}

static int mount_list(struct catalog *base, struct catalog_hold *h, char *out, size_t cap,
                      int *count)
{
    (void)h;
    struct mount_catalog *c = (struct mount_catalog *)base;
    struct put put = put_into(out, cap);
    *count = 0;
    for (int i = 0; i < c->count; i++)
        if (!is_pattern(c->mounts[i])) {
            list_mount(c->mounts[i], &put);
            ++*count;
        }
    return put.full ? ERR_NO_MEMORY : 0;
}

// A file is not opened for it. What comes of a device, a camera, a client or a generator is live.
static struct stream_media *mount_still(struct catalog *base, struct still_wish *w, int *err)
{
    struct mount_catalog *c = (struct mount_catalog *)base;
    const struct mount *m = find(c, w->path);
    bool is_file = m && !is_published(m->source) && stream_open_is_file(m->source);
    *err = is_file ? ERR_NO_MEMORY : ERR_UNSUPPORTED;
    return is_file ? film_still_new(c->stills, NULL, m->source->source, w->at) : NULL;
}

// Viewers of a stream as it was before a reload keep their limit.
static int mount_set_highest(struct catalog *base, const char *path, int level, usec_t now)
{
    struct mount *m = find((struct mount_catalog *)base, path + 1);
    if (!m)
        return ERR_NOT_FOUND;
    bool is_open = m->film && m->film->state == FILM_OPEN;
    int top = LADDER_MAX_LEVELS - 1;
    if (level < 0 || level > top ||
        (is_open && level != top && !ladder_has_level(&m->film->stream.media->ladder, level)))
        return ERR_RANGE;
    m->highest = level;
    if (is_open)
        stream_set_highest(&m->film->stream, level, now);
    return 0;
}

static const char *mount_recorded(struct catalog *base, const char *path)
{
    const struct mount *m = find((struct mount_catalog *)base, path);
    return m && m->source->codec == SDP_H264 ? m->source->record : NULL;
}

static void mount_stats(struct catalog *base, struct stats *out, session_stats_fn *each, void *ctx,
                        usec_t now)
{
    struct mount_catalog *c = (struct mount_catalog *)base;
    snprintf(out->source, sizeof(out->source), "%d source%s", c->count, c->count == 1 ? "" : "s");
    catalog_begin_stats(base, out);
    for (int i = 0; i < c->count; i++) {
        struct mount *m = c->mounts[i];
        if (m->film && m->film->state == FILM_OPEN)
            stream_collect_stats(&m->film->stream, m->source->path, out, each, ctx, now);
    }
    for (struct film *f = c->past; f; f = f->next) {
        char path[SOURCE_PATH_MAX + 16]; // labels of Prometheus must differ
        snprintf(path, sizeof(path), "%s?old=%d", f->source->path, f->serial);
        if (f->state == FILM_OPEN)
            stream_collect_stats(&f->stream, path, out, each, ctx, now);
    }
}

static void retire(struct film *f, usec_t now, usec_t deadline);

// ---- Clients that publish

static void mount_free_one(struct mount *m)
{
    free(m->own);
    free(m);
}

// The path of a client that has left, if it was one of a pattern.
static void remove_mount(struct mount *m)
{
    struct mount_catalog *c = m->catalog;
    int at = 0;
    while (c->mounts[at] != m)
        at++;
    memmove(&c->mounts[at], &c->mounts[at + 1], (size_t)(--c->count - at) * sizeof(c->mounts[0]));
    mount_free_one(m);
}

// Takes the client from those that wait, if it is one of them.
static void stop_waiting(struct mount *m, const struct published *p)
{
    for (struct published **at = &m->waiting; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            return;
        }
}

// Another client publishes to the path from now on. The stream, its viewers and its recording go on
// if its media is like that of the one before.
static void take_over(struct mount *m, struct published *p, usec_t now)
{
    static const char why[] = "another client publishes to the path now";
    struct published *before = m->client;
    stop_waiting(m, p);
    m->client = p;
    if (before)
        log_info("%s: %s", m->source->path, why);
    bool goes_on = before && m->film && m->film->state != FILM_LATE &&
                   publisher_succeed(before->publisher, p->publisher);
    if (goes_on && m->film->state == FILM_OPEN) { // else each would keep the one after it
        publisher_unref(m->film->own->publisher);
        m->film->own->publisher = publisher_ref(p->publisher);
    }
    if (m->film && !goes_on)
        retire(m->film, now, now + RECORDER_END);
    if (!goes_on)
        open_film(m, now);
    if (!before)
        return;
    before->mount = NULL;
    before->events->on_over(before->ctx, why, now);
}

static void client_begin(struct publication *base, bool datagram, usec_t now)
{
    struct published *p = (struct published *)base;
    struct mount *m = p->mount;
    if (!m)
        return; // its owner knows
    publisher_set_datagram(p->publisher, datagram);
    if (m->client == p)
        open_film(m, now);
    else
        take_over(m, p, now);
}

static void client_packet(struct publication *base, enum media_track track, bool rtcp,
                          const uint8_t *data, size_t len, usec_t arrived)
{
    publisher_packet(((struct published *)base)->publisher, track, rtcp, data, len, arrived);
}

static void client_end(struct publication *base, const char *why, usec_t now)
{
    struct published *p = (struct published *)base;
    struct mount *m = p->mount;
    bool has_media = m && m->client == p;
    if (m)
        stop_waiting(m, p);
    publisher_end(p->publisher, why);
    free(p);
    if (!m)
        return;
    if (has_media) {
        m->client = NULL;
        m->err = 0;
        if (m->film)
            retire(m->film, now, now + RECORDER_END);
    }
    if (m->own && !m->client && !m->waiting)
        remove_mount(m);
    else
        set_deadline(m->catalog);
}

static void on_client_begun(void *ctx, usec_t now)
{
    const struct published *p = ctx;
    p->events->on_begun(p->ctx, now);
}

static void on_client_over(void *ctx, const char *why, usec_t now)
{
    const struct published *p = ctx;
    p->events->on_over(p->ctx, why, now);
}

static void send_client_rtcp(void *ctx, enum media_track track, const uint8_t *data, size_t len)
{
    const struct published *p = ctx;
    p->events->send_rtcp(p->ctx, track, data, len);
}

static void copy_pattern(struct options *own, const struct options *pattern, const char *at)
{
    char path[SOURCE_PATH_MAX];
    snprintf(path, sizeof(path), "%s", at); // which may be that of `own`
    *own = *pattern;
    memcpy(own->mount, path, sizeof(path));
    own->path = own->mount;
}

// Makes the mount of a path that a pattern matches. NULL: none does, there are too many, or there
// is no memory: *reason.
static struct mount *add_mount(struct mount_catalog *c, const char *path, const char **reason)
{
    const struct mount *pattern = NULL;
    for (int i = 0; i < c->count && !pattern; i++)
        if (is_pattern(c->mounts[i]) && source_publish_matches(c->mounts[i]->source->path, path))
            pattern = c->mounts[i];
    *reason =
        !pattern ? "is no path to publish to (weir-send --publish PATH)" : "is one path too many";
    if (!pattern || c->count == MOUNTS_MAX)
        return NULL;
    *reason = "has no memory";
    struct options *own = malloc(sizeof(*own));
    struct mount *m = own ? mount_new(c) : NULL;
    if (!m) {
        free(own);
        return NULL;
    }
    copy_pattern(own, pattern->source, path);
    m->own = own;
    m->source = own;
    c->mounts[c->count++] = m;
    return m;
}

static struct published *client_new(struct mount *m, const struct publication_config *config)
{
    static const struct publication_ops ops = {
        .begin = client_begin, .packet = client_packet, .end = client_end};
    struct published *p = malloc(sizeof(*p));
    if (!p)
        return NULL;
    *p = (struct published){
        .base.ops = &ops, .mount = m, .events = config->events, .ctx = config->ctx};
    struct publisher_config publisher = {.loop = m->catalog->loop,
                                         .name = m->source->path,
                                         .sdp = config->sdp,
                                         .on_begun = on_client_begun,
                                         .on_over = on_client_over,
                                         .send_rtcp = send_client_rtcp,
                                         .ctx = p};
    p->publisher = publisher_new(&publisher);
    if (p->publisher)
        return p;
    free(p);
    return NULL;
}

static int mount_publish(struct catalog *base, const char *url_path,
                         const struct publication_config *config, struct publication **out,
                         struct media_refusal *refusal)
{
    struct mount_catalog *c = (struct mount_catalog *)base;
    char path[REQUEST_PATH_MAX + 1] = "/";
    const char *reason = "is no path to publish to (weir-send --publish PATH)";
    struct mount *m = NULL;
    if (request_path_decode(url_path, path + 1, sizeof(path) - 1) == 0 && !(m = find(c, path + 1)))
        m = add_mount(c, path, &reason);
    refusal->status = c->count == MOUNTS_MAX ? 503 : 404;
    if (m && is_published(m->source) && m->client && !m->source->take_over) {
        refusal->status = 503;
        reason = "has a client that publishes to it already (weir-send --take-over)";
    } else if (m && is_published(m->source)) {
        struct published *p = client_new(m, config);
        *out = p ? &p->base : NULL;
        if (p && !m->client) {
            m->client = p;
        } else if (p) {
            p->next = m->waiting;
            m->waiting = p;
        }
        if (p)
            return 0;
        refusal->status = 503;
        reason = "has no memory";
        if (m->own && !m->client && !m->waiting)
            remove_mount(m);
    }
    snprintf(refusal->text, sizeof(refusal->text), "%.100s %s", path, reason);
    return CATALOG_REFUSED;
}

// The path is not offered any longer: its clients leave soon.
static void dismiss(struct mount *m, usec_t now)
{
    if (m->client) {
        m->client->next = m->waiting;
        m->waiting = m->client;
    }
    m->client = NULL;
    while (m->waiting) {
        struct published *p = m->waiting;
        m->waiting = p->next;
        p->mount = NULL;
        p->events->on_over(p->ctx, "the server offers the path no longer", now);
    }
}

// ---- Changes

// The configuration has the film no longer. It stays while viewers hold it, or a thread opens it.
// `deadline`: of end_recorder.
static void retire(struct film *f, usec_t now, usec_t deadline)
{
    struct mount_catalog *c = f->catalog;
    f->mount->film = NULL;
    f->mount = NULL;
    if (f->state == FILM_OPEN && !f->holds) {
        close_film_until(f, deadline);
        return;
    }
    end_recorder(f, deadline); // its successor records now
    f->next = c->past;
    c->past = f;
    c->past_count++;
    if (f->state == FILM_OPEN)
        return;
    media_guard_stop(f->guard);
    give_up(f);
    wake(f, now);
}

// The source has other options than its film.
static void renew(struct mount *m, usec_t now, usec_t deadline)
{
    struct film *f = m->film;
    bool is_used = f && f->state == FILM_OPEN && f->holds;
    if (f && f->state != FILM_OPEN) {
        m->stale = true; // its thread returns soon
        media_guard_stop(f->guard);
        return;
    }
    // Few streams of before a change are kept: each has encoders.
    if (is_used &&
        (source_is_capture(f->source->source) || m->catalog->past_count >= SOURCES_MAX)) {
        m->stale = true;
        log_info("%s is opened anew when its viewers have left", m->source->path);
        return;
    }
    if (!f && m->stale)
        return; // its device is being closed
    bool closes_device = f && f->recorder && source_is_capture(f->source->source);
    if (f)
        retire(f, now, deadline);
    if (closes_device) {
        m->stale = true;
        m->reopen = now + DEVICE_CLOSES;
        return;
    }
    open_film(m, now);
}

// Returns the mount that a source of a reload keeps: of its name and kind. NULL: it has none.
static struct mount *kept(struct mount_catalog *c, const struct options *source)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->mounts[i]->source->path, source->path) == 0 && !c->mounts[i]->own &&
            is_published(c->mounts[i]->source) == is_published(source))
            return c->mounts[i];
    return NULL;
}

// Returns the pattern of the new sources that the path of a client matches. NULL: there is none, or
// the path is one of them.
static const struct options *pattern_of(const struct mount *m, const struct options *o)
{
    const struct options *pattern = NULL;
    for (int i = 0; m->own && i < o->source_count; i++) {
        const struct options *one = &o->sources[i];
        if (strcmp(one->path, m->source->path) == 0)
            return NULL;
        if (source_publish_is_any(one->path) && source_publish_matches(one->path, m->source->path))
            pattern = one;
    }
    return pattern;
}

// Returns the generation of `o`, with one holder; NULL: no memory, and nothing is taken over.
static struct generation *next_generation(struct mount_catalog *c, struct options *o,
                                          struct options *read)
{
    struct generation *last = c->generation->base ? c->generation->base : c->generation;
    if (read == o)
        return generation_new(o, o, NULL);
    if (!read)
        return generation_new(o, o, last);
    struct generation *base = generation_new(read, NULL, NULL);
    struct generation *g = base ? generation_new(o, o, base) : NULL;
    if (g)
        base->owned = read;
    generation_drop(base);
    return g;
}

bool mount_catalog_is_busy(const struct catalog *base)
{
    return ((const struct mount_catalog *)base)->past_count >= SOURCES_MAX;
}

bool mount_catalog_has(struct catalog *base, const char *path)
{
    return find((struct mount_catalog *)base, path + 1);
}

int mount_catalog_record(struct catalog *base, const char *path, bool records)
{
    struct mount *m = find((struct mount_catalog *)base, path + 1);
    if (!m || !m->source->record)
        return m ? ERR_UNSUPPORTED : ERR_NOT_FOUND;
    struct film *f = m->film;
    usec_t now = clock_now();
    m->pauses = !records;
    if (records && f && f->state == FILM_OPEN && !f->recorder)
        start_recorder(f);
    else if (records && !f && !is_published(m->source) && !m->stale)
        open_film(m, now);
    else if (records && f && f->state == FILM_LATE)
        m->retry = now + RECORDER_RETRY;
    else if (!records && f)
        end_recorder(f, now + RECORDER_END);
    if (!records)
        m->retry = USEC_NEVER;
    set_deadline(m->catalog);
    return 0;
}

int mount_catalog_reload(struct catalog *base, struct options *o, struct options *read)
{
    struct mount_catalog *c = (struct mount_catalog *)base;
    struct mount *mounts[MOUNTS_MAX] = {0};
    bool is_new[SOURCES_MAX] = {0};
    usec_t now = clock_now(), deadline = now + RECORDER_END; // of all recordings together
    assert(o->source_count <= SOURCES_MAX);
    for (int i = 0; i < o->source_count; i++) {
        mounts[i] = kept(c, &o->sources[i]);
        is_new[i] = !mounts[i];
        if (is_new[i] && !(mounts[i] = mount_new(c)))
            goto free_mounts;
    }
    struct generation *g = next_generation(c, o, read);
    if (!g)
        goto free_mounts;
    struct generation *before = c->generation;
    c->generation = g;
    int count = o->source_count;
    for (int i = 0; i < c->count; i++) {
        struct mount *m = c->mounts[i];
        const struct options *pattern = pattern_of(m, o);
        bool stays = pattern && count < MOUNTS_MAX;
        if (stays) {
            copy_pattern(m->own, pattern, m->source->path);
            mounts[count++] = m;
        }
        for (int k = 0; k < o->source_count; k++)
            stays = stays || mounts[k] == m;
        if (stays)
            continue;
        log_info("%s is no longer offered", m->source->path);
        if (m->film)
            retire(m->film, now, deadline);
        dismiss(m, now);
        mount_free_one(m);
    }
    c->count = count;
    memcpy(c->mounts, mounts, sizeof(c->mounts));
    for (int i = 0; i < o->source_count; i++) {
        struct mount *m = c->mounts[i];
        m->source = &o->sources[i];
        if (is_published(m->source)) {
            if (m->film && m->film->state == FILM_OPEN)
                set_limits(&m->film->stream, m->source);
            continue; // other options are for the next client
        }
        // One that has failed is tried again: a reading may be meant for it.
        struct film *f = m->film;
        bool is_same = f && options_source_equal(f->source, m->source);
        if (is_new[i]) {
            open_film(m, now);
        } else if (is_same && f->state == FILM_OPEN) {
            m->stale = false;
            set_limits(&f->stream, m->source);
        } else if (!is_same || m->stale) {
            renew(m, now, deadline);
        }
    }
    generation_drop(before);
    set_deadline(c);
    return 0;

free_mounts:
    for (int i = 0; i < o->source_count; i++)
        if (is_new[i])
            free(mounts[i]);
    return ERR_NO_MEMORY;
}

// ---- Life

// drop_film frees what a thread opens when the thread returns.
static void end_film(struct film *f, usec_t deadline)
{
    if (f && f->state == FILM_OPEN)
        close_film_until(f, deadline);
    else if (f)
        media_guard_stop(f->guard);
}

static void mount_free(struct catalog *base)
{
    struct mount_catalog *c = (struct mount_catalog *)base;
    usec_t deadline = clock_now() + RECORDER_END; // of all recordings together
    for (int i = 0; i < c->count; i++) {
        end_film(c->mounts[i]->film, deadline);
        mount_free_one(c->mounts[i]);
    }
    for (struct film *f = c->past, *next; f; f = next) {
        next = f->next;
        end_film(f, deadline);
    }
    workers_free(c->openers);
    workers_free(c->stills);
    timer_free(c->deadline);
    generation_drop(c->generation);
    free(c);
}

struct catalog *mount_catalog_new(uv_loop_t *loop, const struct options *o)
{
    static const struct catalog_ops ops = {.take = mount_take,
                                           .leave = mount_leave,
                                           .list = mount_list,
                                           .still = mount_still,
                                           .recorded = mount_recorded,
                                           .stats = mount_stats,
                                           .set_highest = mount_set_highest,
                                           .publish = mount_publish,
                                           .free = mount_free};
    struct mount_catalog *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->base.ops = &ops;
    c->base.items = "stream";
    c->loop = loop;
    c->generation = generation_new(o, NULL, NULL);
    c->deadline = timer_new(loop, on_deadline, c);
    bool has_pattern = false;
    for (int i = 0; i < o->source_count; i++)
        has_pattern = has_pattern || source_publish_is_any(o->sources[i].path);
    int max = has_pattern ? MOUNTS_MAX : SOURCES_MAX;
    c->openers = workers_new(loop, max, MOUNTS_MAX);
    c->stills = workers_new(loop, 1, FILM_STILLS);
    if (!c->generation || !c->deadline || !c->openers || !c->stills)
        goto free_catalog;
    assert(o->source_count <= SOURCES_MAX);
    for (int i = 0; i < o->source_count; i++) {
        struct mount *m = mount_new(c);
        if (!m)
            goto free_catalog;
        m->source = &o->sources[i];
        c->mounts[c->count++] = m;
    }
    for (int i = 0; i < c->count; i++)
        if (!is_published(c->mounts[i]->source))
            open_film(c->mounts[i], clock_now());
    return &c->base;

free_catalog:
    mount_free(&c->base);
    return NULL;
}
