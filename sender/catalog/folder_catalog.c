// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/catalog/folder_catalog.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/wire/request_path.h"
#include "sender/catalog/film_still.h"
#include "sender/catalog/folder_list.h"
#include "sender/catalog/stream_open.h"
#include "sender/feed/workers.h"

#define LIST_BUDGET (400 * USEC_PER_MSEC) // max. time to open files for a list, as a viewer waits
#define LOOK_LIMIT  USEC_PER_SEC          // max. time to open one file for a list

enum film_state { FILM_OPENING, FILM_OPEN, FILM_FAILED };

// An open file. While a thread opens it (`opening`), `stream` and `work_err` belong to the thread.
// A film that a thread has begun to open stays in the catalog until the thread returns, even if no
// viewer waits any more. Otherwise each request for a film that hangs would block another thread.
struct film {
    struct work work; // first
    struct film *next;
    struct folder_catalog *catalog; // borrowed; NULL: removed from the catalog
    const struct options *options;
    char root[PATH_MAX];
    char path[REQUEST_PATH_MAX];
    struct media_guard *guard; // one reference
    _Atomic usec_t begun;      // when a thread began to open it; 0: none has
    bool opening;              // queued for a thread, or a thread opens it
    bool taken;                // a viewer has got its stream
    int work_err;              // result of the thread
    char why[STREAM_OPEN_WHY]; // with an error
    enum film_state state;
    int err;         // with FILM_FAILED: the reason
    usec_t deadline; // of FILM_OPENING; of a slow film that is open and that no viewer holds
    usec_t slow;     // with FILM_OPENING: it may be slow then; USEC_NEVER: it is
    struct catalog_hold *holds;
    struct stream stream;
};

// The work that makes the folder's list. It belongs to the thread while that makes a list.
struct list_work {
    struct work work;               // first
    struct folder_catalog *catalog; // borrowed
    struct folder_list *list;       // owned
    struct media_guard *guard;      // one reference
    int count;                      // number of files
    char *text;                     // owned, CATALOG_LIST_BYTES long
};

struct folder_catalog {
    struct catalog base;           // first
    uv_loop_t *loop;               // borrowed
    const struct options *options; // borrowed
    char root[PATH_MAX];           // real path of the folder
    struct workers *openers;       // owned; open films
    struct workers *lister;        // owned; one thread, makes the list
    struct workers *stills;        // owned; one thread, takes pictures of films for the list
    struct timer *deadline;        // owned; earliest deadline of the films and the list
    int film_count;
    struct film *films;     // owned, the newest first
    struct list_work *list; // owned, unless the thread makes a list
    bool is_listing;        // the thread makes a list
    int count;              // files of the last list
    char *text;             // owned; the last list
    usec_t list_deadline;
    struct catalog_hold *listing; // viewers that wait for the list
};

// ---- Holds

static void hold_film(struct catalog_hold *h, struct film *f)
{
    h->film = f;
    h->next = f->holds;
    f->holds = h;
}

static void set_deadline(struct folder_catalog *s)
{
    usec_t first = s->is_listing && s->listing ? s->list_deadline : USEC_NEVER;
    for (struct film *f = s->films; f; f = f->next)
        if (f->state == FILM_OPENING)
            first = usec_min(first, usec_min(f->slow, f->deadline));
        else if (f->state == FILM_OPEN && !f->holds)
            first = usec_min(first, f->deadline);
    timer_set(s->deadline, first);
}

// ---- Films

static void film_free(struct film *f)
{
    media_guard_unref(f->guard);
    free(f);
}

// Removes the film from the catalog and revokes its holds. If a thread is opening it, the film is
// freed when the thread returns.
static void close_film(struct film *f)
{
    struct folder_catalog *s = f->catalog;
    struct film **at = &s->films;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    s->film_count--;
    f->catalog = NULL;
    while (f->holds) {
        struct catalog_hold *h = f->holds;
        f->holds = h->next;
        h->film = NULL;
        if (h->on_revoked)
            h->on_revoked(h->ctx);
    }
    media_guard_stop(f->guard);
    if (f->state == FILM_OPEN) {
        log_info("%s is closed", f->path);
        stream_close_stats(&f->stream);
        stream_destroy(&f->stream);
    }
    if (!f->opening)
        film_free(f);
}

// Called on a thread: opens the film.
static void run_film(struct work *w)
{
    struct film *f = (struct film *)w;
    char real[PATH_MAX];
    struct stat st;
    f->work_err = media_guard_check(f->guard);
    if (f->work_err)
        return; // it waited too long for a thread
    atomic_store(&f->begun, clock_now());
    if (!folder_real_file(f->root, f->path, real, &st) || !S_ISREG(st.st_mode))
        f->work_err = ERR_NOT_FOUND;
    if (!f->work_err)
        f->work_err = stream_open_why(&f->stream, f->guard, f->options, real, f->why);
}

static void drop_film(struct work *w)
{
    struct film *f = (struct film *)w;
    if (atomic_load(&f->begun) && !f->work_err)
        stream_destroy(&f->stream);
    film_free(f);
}

// Ends the opening and notifies the viewers that wait.
static void settle(struct film *f, int err, usec_t now)
{
    f->state = err ? FILM_FAILED : FILM_OPEN;
    f->err = err;
    set_deadline(f->catalog);
    for (struct catalog_hold *h = f->holds; h; h = h->next)
        h->on_ready(h->ctx, now);
}

// The film is open, or has failed, and no viewer holds it.
static void release(struct film *f, usec_t now)
{
    if (f->state == FILM_OPEN && f->slow == USEC_NEVER && now < f->deadline) {
        f->taken = true; // from now on it is idle
        set_deadline(f->catalog);
    } else {
        close_film(f);
    }
}

static void film_done(struct work *w, usec_t now)
{
    struct film *f = (struct film *)w;
    struct folder_catalog *s = f->catalog;
    f->opening = false;
    if (!s || f->state == FILM_FAILED) { // closed or timed out while the thread opened it
        if (!f->work_err)
            stream_destroy(&f->stream);
        if (!s)
            film_free(f);
        else if (!f->holds)
            close_film(f);
        return;
    }
    int err = f->work_err;
    if (!err && (err = stream_start(&f->stream, s->loop)) != 0)
        stream_destroy(&f->stream);
    if (!err) {
        f->stream.viewer_timeout = s->options->timeout * USEC_PER_SEC;
        f->stream.max_viewers = s->options->max_viewers;
        f->stream.fragment_bytes = (size_t)s->options->fragment;
        f->stream.book = &s->base.book;
        log_info("%s is open", f->path);
    }
    if (!err)
        f->deadline = now + FOLDER_KEPT;
    settle(f, err, now);
    if (!f->holds)
        release(f, now);
}

// A film that has been opened for a long time holds up no other: another thread takes the place of
// its own. One that still waits for a thread is not slow.
static void note_slow(struct film *f, usec_t now)
{
    usec_t begun = atomic_load(&f->begun);
    f->slow = (begun ? begun : now) + FOLDER_SLOW;
    if (f->slow > now)
        return;
    f->slow = USEC_NEVER;
    log_info("%s is slow to open", f->path);
    workers_late(f->catalog->openers, &f->work);
}

static void give_up(struct film *f, usec_t now)
{
    bool begun = atomic_load(&f->begun);
    media_guard_stop(f->guard);
    log_warn("%s: not open after %d s%s", f->path, (int)(CATALOG_OPEN_LIMIT / USEC_PER_SEC),
             begun ? "" : ": other files are slow to open");
    settle(f, begun ? ERR_TIMED_OUT : ERR_AGAIN, now);
}

static void on_deadline(void *ctx, usec_t now)
{
    struct folder_catalog *s = ctx;
    for (struct film *f = s->films, *next; f; f = next) {
        next = f->next;
        if (f->state == FILM_OPENING && f->slow <= now)
            note_slow(f, now);
        if (f->state == FILM_OPENING && f->deadline <= now)
            give_up(f, now);
        else if (f->state == FILM_OPEN && !f->holds && f->deadline <= now)
            close_film(f);
    }
    while (s->listing && s->list_deadline <= now) {
        struct catalog_hold *h = s->listing;
        s->listing = h->next_listing;
        h->listing = false;
        h->listed = ERR_TIMED_OUT;
        h->on_ready(h->ctx, now);
    }
    set_deadline(s);
}

// Returns true if the film is open and no session uses it. A film that its first viewer has not
// taken yet is not idle.
static bool is_idle(const struct film *f)
{
    return f->state == FILM_OPEN && f->taken && f->stream.sink_count == 0;
}

// If more than `max` films are idle, returns the idle film other than `but` that was requested
// first. Else returns NULL.
static struct film *oldest_idle(const struct folder_catalog *s, int max, const struct film *but)
{
    struct film *oldest = NULL;
    int count = 0;
    for (struct film *f = s->films; f; f = f->next) {
        count += is_idle(f);
        if (is_idle(f) && f != but)
            oldest = f;
    }
    return count > max ? oldest : NULL;
}

static int open_film(struct folder_catalog *s, const char *path, struct catalog_hold *h)
{
    struct film *idle = oldest_idle(s, 0, NULL);
    if (s->film_count >= CATALOG_MAX_OPEN && !idle)
        return ERR_FULL;
    if (s->film_count >= CATALOG_MAX_OPEN)
        close_film(idle);
    struct film *f = calloc(1, sizeof(*f));
    if (!f)
        return ERR_NO_MEMORY;
    f->work = (struct work){.run = run_film, .done = film_done, .drop = drop_film};
    f->options = s->options;
    usec_t now = clock_now();
    f->deadline = now + CATALOG_OPEN_LIMIT;
    f->slow = now + FOLDER_SLOW;
    f->guard = media_guard_new_below(s->root, f->deadline);
    snprintf(f->root, sizeof(f->root), "%s", s->root);
    snprintf(f->path, sizeof(f->path), "%s", path);
    f->opening = f->guard && workers_add(s->openers, &f->work) == 0;
    if (!f->opening) {
        int err = f->guard ? ERR_AGAIN : ERR_NO_MEMORY;
        film_free(f);
        return err;
    }
    f->catalog = s;
    f->next = s->films;
    s->films = f;
    s->film_count++;
    hold_film(h, f);
    set_deadline(s);
    return CATALOG_WAITS;
}

static void folder_leave(struct catalog *c, struct catalog_hold *h)
{
    struct folder_catalog *s = (struct folder_catalog *)c;
    for (struct catalog_hold **at = &s->listing; *at; at = &(*at)->next_listing) {
        if (*at == h) {
            *at = h->next_listing;
            break;
        }
    }
    h->listing = false;
    h->listed = 0;
    struct film *f = h->film;
    if (!f)
        return;
    struct catalog_hold **at = &f->holds;
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    h->film = NULL;
    if (!f->holds && !(f->opening && atomic_load(&f->begun)))
        release(f, clock_now());
}

static int folder_take(struct catalog *c, const char *url_path, struct catalog_hold *h, bool only,
                       struct stream **out)
{
    struct folder_catalog *s = (struct folder_catalog *)c;
    char path[REQUEST_PATH_MAX];
    if (request_path_decode(url_path, path, sizeof(path)) != 0)
        return ERR_NOT_FOUND;
    if (!*path)
        return ERR_END;
    if (h->film && strcmp(h->film->path, path) != 0) {
        if (only)
            return ERR_NOT_FOUND;
        folder_leave(c, h);
    }
    for (struct film *f = s->films; f && !h->film; f = f->next)
        if ((f->state != FILM_FAILED || f->opening) && strcmp(f->path, path) == 0)
            hold_film(h, f);
    if (!h->film)
        return open_film(s, path, h);
    if (h->film->state == FILM_OPENING)
        return CATALOG_WAITS;
    if (h->film->state == FILM_OPEN) {
        struct film *idle;
        h->film->taken = true;
        // Bound the memory of viewers that only DESCRIBE film after film.
        while ((idle = oldest_idle(s, FOLDER_MAX_IDLE, h->film)))
            close_film(idle);
        *out = &h->film->stream;
        return 0;
    }
    int err = h->film->err;
    if (err == ERR_UNSUPPORTED) {
        h->refusal.status = 404;
        snprintf(h->refusal.text, sizeof(h->refusal.text),
                 "cannot open the file: %s (see the server's log)", h->film->why);
        err = CATALOG_REFUSED;
    }
    folder_leave(c, h);
    return err;
}

// ---- The list

static void list_free(struct list_work *l)
{
    folder_list_free(l->list);
    media_guard_unref(l->guard);
    free(l->text);
    free(l);
}

// Called on a thread: makes the list.
static void run_list(struct work *w)
{
    struct list_work *l = (struct list_work *)w;
    l->count =
        folder_list_make(l->list, l->text, CATALOG_LIST_BYTES, LIST_BUDGET, LOOK_LIMIT, l->guard);
}

static void drop_list(struct work *w)
{
    list_free((struct list_work *)w);
}

static void list_done(struct work *w, usec_t now)
{
    struct list_work *l = (struct list_work *)w;
    struct folder_catalog *s = l->catalog;
    char *before = s->text;
    s->text = l->text;
    s->count = l->count;
    l->text = before;
    s->is_listing = false;
    while (s->listing) {
        struct catalog_hold *h = s->listing;
        s->listing = h->next_listing;
        h->listing = false;
        h->listed = 1;
        h->on_ready(h->ctx, now);
    }
    set_deadline(s);
}

// Copies as many whole lines as fit.
static void copy_lines(const char *from, char *out, size_t cap)
{
    size_t len = strlen(from);
    if (len >= cap)
        for (len = cap - 1; len && from[len - 1] != '\n';)
            len--;
    memcpy(out, from, len);
    out[len] = '\0';
}

static int folder_list_films(struct catalog *c, struct catalog_hold *h, char *out, size_t cap,
                             int *count)
{
    struct folder_catalog *s = (struct folder_catalog *)c;
    int listed = h->listed;
    h->listed = 0;
    if (listed < 0)
        return listed;
    if (listed) {
        copy_lines(s->text, out, cap);
        *count = s->count;
        return 0;
    }
    if (!s->is_listing) {
        s->list->work = (struct work){.run = run_list, .done = list_done, .drop = drop_list};
        if (workers_add(s->lister, &s->list->work) != 0)
            return ERR_NO_MEMORY;
        s->is_listing = true;
        s->list_deadline = clock_now() + CATALOG_OPEN_LIMIT;
    }
    if (!h->listing) {
        h->listing = true;
        h->next_listing = s->listing;
        s->listing = h;
    }
    set_deadline(s);
    return CATALOG_WAITS;
}

static struct stream_media *folder_still(struct catalog *c, struct still_wish *w, int *err)
{
    struct folder_catalog *s = (struct folder_catalog *)c;
    *err = ERR_NO_MEMORY;
    return film_still_new(s->stills, s->root, w->path, w->at);
}

// ---- Stats

static void folder_stats(struct catalog *c, struct stats *out, session_stats_fn *each, void *ctx,
                         usec_t now)
{
    struct folder_catalog *s = (struct folder_catalog *)c;
    const char *slash = strrchr(s->root, '/');
    // JSON requires UTF-8, which the name of a folder may not be
    utf8_copy(slash && slash[1] ? slash + 1 : s->root, out->source, sizeof(out->source));
    catalog_begin_stats(c, out);
    for (struct film *f = s->films; f; f = f->next) {
        char path[STATS_PATH];
        if (f->state == FILM_OPEN && request_path_encode(f->path, path, sizeof(path)) >= 0)
            stream_collect_stats(&f->stream, path, out, each, ctx, now);
    }
}

// ---- Life

static void folder_free(struct catalog *c)
{
    struct folder_catalog *s = (struct folder_catalog *)c;
    while (s->films) {
        assert(!s->films->holds);
        close_film(s->films);
    }
    assert(!s->listing);
    if (s->list) {
        media_guard_stop(s->list->guard);
        if (!s->is_listing) // if it is, drop_list frees the list when the thread returns
            list_free(s->list);
    }
    workers_free(s->lister);
    workers_free(s->stills);
    workers_free(s->openers);
    timer_free(s->deadline);
    free(s->text);
    free(s);
}

struct catalog *folder_catalog_new(uv_loop_t *loop, const struct options *o)
{
    static const struct catalog_ops ops = {.take = folder_take,
                                           .leave = folder_leave,
                                           .list = folder_list_films,
                                           .still = folder_still,
                                           .stats = folder_stats,
                                           .free = folder_free};
    struct folder_catalog *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->base.ops = &ops;
    s->base.items = "file";
    s->loop = loop;
    s->options = o;
    if (!realpath(o->source, s->root)) {
        log_error("%s: %s", o->source, strerror(errno));
        free(s);
        return NULL;
    }
    s->list = calloc(1, sizeof(*s->list));
    s->text = malloc(CATALOG_LIST_BYTES);
    if (s->list) {
        s->list->catalog = s;
        s->list->list = folder_list_new(s->root);
        s->list->guard = media_guard_new_below(s->root, USEC_NEVER);
        s->list->text = malloc(CATALOG_LIST_BYTES);
    }
    s->openers = workers_new(loop, FOLDER_OPENERS, FOLDER_WAITING);
    s->lister = workers_new(loop, 1, 1);
    s->stills = workers_new(loop, 1, FILM_STILLS);
    s->deadline = timer_new(loop, on_deadline, s);
    if (s->text && s->list && s->list->list && s->list->guard && s->list->text && s->openers &&
        s->lister && s->stills && s->deadline)
        return &s->base;
    folder_free(&s->base);
    return NULL;
}
