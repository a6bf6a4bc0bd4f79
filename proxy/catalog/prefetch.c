// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/catalog/prefetch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/timer.h"

enum { MAX_BYTES = 1 << 20 }; // of the file
#define LOOK_EVERY  USEC_PER_SEC
#define AGAIN_AFTER (600 * USEC_PER_SEC)
#define GIVE_UP     2 // fetches of a film in a row that bring nothing

struct prefetch {
    struct prefetch_config config;
    struct timer *timer; // owned
    char *text;          // owned: the paths, each with NUL
    size_t len, at;      // of `text`; the path that is next
    char *path;          // of the film that is being described or fetched
    bool any_left;       // a path of this pass was not stored
    bool waits;
    struct catalog_hold hold;
    struct store_film *film; // one hold; while it is fetched
};

// ---- The file

static int read_file(struct prefetch *p, const char *name)
{
    FILE *in = fopen(name, "re");
    if (!in) {
        log_error("--prefetch %s: %s", name, strerror(errno));
        return ERR_IO;
    }
    p->text = malloc(MAX_BYTES + 1);
    p->len = p->text ? fread(p->text, 1, MAX_BYTES, in) : 0;
    bool is_whole = p->text && !ferror(in) && fgetc(in) == EOF;
    fclose(in);
    if (!is_whole) {
        log_error("--prefetch %s: cannot be read, or longer than %d bytes", name, MAX_BYTES);
        return ERR_IO;
    }
    for (size_t i = 0; i < p->len; i++)
        if (p->text[i] == '\n' || p->text[i] == '\r')
            p->text[i] = '\0';
    p->text[p->len] = '\0';
    return 0;
}

// Returns the next path; NULL: the list is through.
static char *next_path(struct prefetch *p)
{
    while (p->at < p->len) {
        char *line = p->text + p->at;
        p->at += strlen(line) + 1;
        if (*line && *line != '#')
            return line;
    }
    return NULL;
}

// ---- A film

static void leave(struct prefetch *p)
{
    p->config.catalog->ops->leave(p->config.catalog, &p->hold);
    store_film_release(p->film);
    p->film = NULL;
    p->path = NULL;
    p->waits = false;
}

static void fail(struct prefetch *p, const char *why)
{
    log_warn("%s is not stored in advance: %s", p->path, why);
    p->any_left = true;
    leave(p);
}

static bool has_room(const struct prefetch *p, usec_t now)
{
    const struct sdp *sdp = &store_film_info(p->film)->sdp;
    double bps = sdp->ladder.levels[sdp->ladder.level_count - 1].bitrate_bps;
    return sdp->duration * bps / 8 < (double)store_room(p->config.store, now);
}

static void on_ready(void *ctx, usec_t now)
{
    struct prefetch *p = ctx;
    p->waits = false;
    timer_set(p->timer, now);
}

// The origin describes the film: the catalog makes its entry in the store.
static void describe(struct prefetch *p, usec_t now)
{
    struct stream *stream;
    struct url url;
    p->hold.on_ready = on_ready;
    p->hold.ctx = p;
    int result = p->config.catalog->ops->take(p->config.catalog, p->path, &p->hold, false, &stream);
    if (result == CATALOG_WAITS) {
        p->waits = true;
        return;
    }
    if (!result && origin_url_of(p->config.rules, p->path, &url) == 0)
        p->film = store_find(p->config.store, url.text);
    p->config.catalog->ops->leave(p->config.catalog, &p->hold);
    if (result)
        fail(p, result == CATALOG_REFUSED ? p->hold.refusal.text : err_text(result));
    else if (!p->film)
        fail(p, "it is not of a kind that can be stored");
    else if (store_film_is_complete(p->film, store_film_sizes(p->film) - 1))
        leave(p);
    else if (!has_room(p, now))
        fail(p, "--cache-bytes has no room for it");
    else
        store_film_fetch(p->film)->is_wanted = true;
}

static void look(struct prefetch *p)
{
    struct store_fetch *fetch = store_film_fetch(p->film);
    if (store_film_is_complete(p->film, store_film_sizes(p->film) - 1)) {
        fetch->is_wanted = false;
        leave(p);
    } else if (fetch->tries >= GIVE_UP) {
        fetch->is_wanted = false;
        fail(p, "its origin does not send it");
    }
}

static void on_timer(void *ctx, usec_t now)
{
    struct prefetch *p = ctx;
    if (p->film)
        look(p);
    if (!p->path) {
        p->path = next_path(p);
        if (!p->path && !p->any_left)
            return;
        if (!p->path) {
            p->at = 0;
            p->any_left = false;
            timer_set(p->timer, now + AGAIN_AFTER);
            return;
        }
    }
    if (!p->film && !p->waits)
        describe(p, now);
    timer_set(p->timer, now + (p->path ? LOOK_EVERY : 0));
}

// ---- Life

struct prefetch *prefetch_new(const struct prefetch_config *config)
{
    struct prefetch *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->config = *config;
    if (read_file(p, config->file) != 0)
        goto free_text;
    p->timer = timer_new(config->loop, on_timer, p);
    if (!p->timer)
        goto free_text;
    timer_set(p->timer, 0);
    return p;

free_text:
    free(p->text);
    free(p);
    return NULL;
}

void prefetch_free(struct prefetch *p)
{
    if (!p)
        return;
    leave(p);
    timer_free(p->timer);
    free(p->text);
    free(p);
}
