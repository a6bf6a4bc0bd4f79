// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/catalog_library.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/wire/request_path.h"
#include "sender/http/film_library.h"
#include "sender/http/live_packager.h"

struct entry { // a stream that was requested
    struct catalog_library *library;
    struct entry *next;
    char mount[REQUEST_PATH_MAX]; // decoded, begins with '/'
    struct catalog_hold hold;
    usec_t used;    // the last request
    usec_t checked; // when the catalog was asked whether this is its stream
    // At most one is not NULL; owned.
    struct live_packager *live;
    struct film_library *film;
};

struct catalog_library {
    struct http_content base; // first
    struct catalog_library_config config;
    struct entry *entries; // owned
};

static void close_entry(struct entry *e)
{
    struct catalog_library *l = e->library;
    struct entry **at = &l->entries;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    live_packager_free(e->live);
    film_library_free(e->film);
    l->config.catalog->ops->leave(l->config.catalog, &e->hold);
    free(e);
}

// ---- Streams

static void on_ready(void *ctx, usec_t now)
{
    (void)now;
    const struct catalog_library *l = ((struct entry *)ctx)->library;
    l->config.on_change(l->config.ctx);
}

static void on_revoked(void *ctx)
{
    close_entry(ctx);
}

// Makes the files of a stream. Returns 0, ERR_NOT_FOUND: it has none, or ERR_NO_MEMORY.
static int make_files(struct entry *e, struct stream *stream)
{
    struct catalog_library *l = e->library;
    const struct stream_media *m = stream->media;
    if (m->stored) {
        struct film_library_config film = {.file = m->stored,
                                           .mount = e->mount,
                                           .has_audio = m->audio_bps > 0,
                                           .aac_bps = l->config.aac_bps,
                                           .on_change = l->config.on_change,
                                           .ctx = l->config.ctx};
        e->film = film_library_new(&film);
        return e->film ? film_library_open(e->film) : ERR_NO_MEMORY;
    }
    struct live_packager_config live = {.media = stream->media,
                                        .mount = e->mount,
                                        .segment = l->config.segment,
                                        .on_change = l->config.on_change,
                                        .ctx = l->config.ctx};
    if (!live_packager_can(m))
        return ERR_NOT_FOUND;
    e->live = live_packager_new(l->config.loop, &live);
    return e->live ? 0 : ERR_NO_MEMORY;
}

// Gets the stream of the catalog, and makes its files. Returns 0, HTTP_WAITS or an error of `get`.
static int open_entry(struct entry *e)
{
    char url[REQUEST_URL_PATH_MAX];
    struct stream *stream;
    struct catalog *c = e->library->config.catalog;
    if (e->live || e->film)
        return 0;
    if (request_path_encode(e->mount + 1, url, sizeof(url)) < 0)
        return ERR_NOT_FOUND;
    int err = c->ops->take(c, url, &e->hold, false, &stream);
    if (err == CATALOG_WAITS)
        return HTTP_WAITS;
    if (err == CATALOG_REFUSED && e->hold.refusal.status == 404)
        return ERR_NOT_FOUND;
    if (err)
        return err == ERR_FULL || err == ERR_AGAIN || err == ERR_TIMED_OUT || err == CATALOG_REFUSED
                   ? ERR_FULL
                   : ERR_NOT_FOUND;
    return make_files(e, stream);
}

static void on_probe(void *ctx, usec_t now)
{
    (void)ctx, (void)now;
}

// Returns false if the catalog has another stream at this path now, or none. The caller then
// drops its hold, so that the catalog can close the retired stream.
static bool is_current(struct entry *e, usec_t now)
{
    char url[REQUEST_URL_PATH_MAX];
    struct stream *stream;
    struct catalog *c = e->library->config.catalog;
    struct catalog_hold probe = {.on_ready = on_probe};
    if (now - e->checked < USEC_PER_SEC || request_path_encode(e->mount + 1, url, sizeof(url)) < 0)
        return true;
    e->checked = now;
    int err = c->ops->take(c, url, &probe, false, &stream);
    bool is_same = probe.film == e->hold.film;
    c->ops->leave(c, &probe);
    return err ? err != ERR_NOT_FOUND : is_same;
}

// ---- Requests

static struct entry *find(struct catalog_library *l, const char *mount)
{
    struct entry *e = l->entries;
    while (e && strcmp(e->mount, mount) != 0)
        e = e->next;
    if (e)
        return e;
    e = calloc(1, sizeof(*e));
    if (!e)
        return NULL;
    strcpy(e->mount, mount);
    e->library = l;
    e->hold = (struct catalog_hold){.on_ready = on_ready, .on_revoked = on_revoked, .ctx = e};
    e->next = l->entries;
    l->entries = e;
    return e;
}

static int get(struct http_content *c, const struct content_request *r, usec_t begun, usec_t now,
               struct http_reply *out)
{
    struct catalog_library *l = (struct catalog_library *)c;
    char mount[REQUEST_PATH_MAX];
    if (r->target.mount < 2 || r->target.mount >= sizeof(mount))
        return ERR_NOT_FOUND;
    memcpy(mount, r->path, r->target.mount);
    mount[r->target.mount] = '\0';
    struct entry *e = find(l, mount);
    if (!e)
        return ERR_NO_MEMORY;
    if ((e->live || e->film) && !is_current(e, now)) {
        close_entry(e);
        e = find(l, mount);
        if (!e)
            return ERR_NO_MEMORY;
    }
    int err = open_entry(e);
    if (err == HTTP_WAITS) {
        out->deadline = begun + CATALOG_OPEN_LIMIT;
        e->used = now;
        return err;
    }
    if (err) {
        close_entry(e);
        return err;
    }
    e->used = now;
    struct http_content *files =
        e->film ? film_library_content(e->film) : live_packager_content(e->live);
    return files->ops->get(files, r, begun, now, out);
}

void catalog_library_tick(struct catalog_library *l, usec_t now)
{
    for (struct entry *e = l->entries, *next; e; e = next) {
        next = e->next;
        bool is_reading = e->film && film_library_state(e->film) == FILM_READING;
        if (e->live)
            live_packager_tick(e->live, now);
        bool is_over = e->live && live_packager_is_over(e->live);
        if (is_over || (!is_reading && now - e->used > CATALOG_LIBRARY_IDLE))
            close_entry(e);
    }
}

// ---- Life

struct catalog_library *catalog_library_new(const struct catalog_library_config *config)
{
    static const struct http_content_ops content_ops = {.get = get};
    struct catalog_library *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->base.ops = &content_ops;
    l->config = *config;
    return l;
}

void catalog_library_free(struct catalog_library *l)
{
    if (!l)
        return;
    while (l->entries)
        close_entry(l->entries);
    free(l);
}

struct http_content *catalog_library_content(struct catalog_library *l)
{
    return &l->base;
}
