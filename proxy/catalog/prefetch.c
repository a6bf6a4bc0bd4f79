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
#define LOOK_EVERY USEC_PER_SEC
#define GIVE_UP    2 // fetches of a film in a row that bring nothing

static const char NO_ROOM[] = "--cache-bytes has no room for it";

struct line {
    const char *path; // in `text`
    int number;       // in the file
    bool is_over;     // it is stored, or cannot be
    bool is_named;    // its failure was logged
};

struct prefetch {
    struct prefetch_config config;
    struct timer *timer; // owned
    char *text;          // owned
    struct line *lines;  // owned
    int count, next;
    struct line *line; // of the film that is being described or fetched
    bool waits;
    struct catalog_hold hold;
    struct store_film *film; // one hold; while it is fetched
};

// ---- The file

// Notes the paths of the text. Returns 0 or ERR_NO_MEMORY.
static int split(struct prefetch *p, size_t len)
{
    int number = 0, room = 0;
    char *end = p->text + len;
    *end = '\0';
    for (char *at = p->text, *next; at < end; at = next) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        next = stop ? stop + 1 : end;
        at[strcspn(at, "\r\n")] = '\0';
        number++;
        if (!*at || *at == '#')
            continue;
        if (p->count == room) {
            room = room ? 2 * room : 64;
            struct line *more = realloc(p->lines, (size_t)room * sizeof(*more));
            if (!more)
                return ERR_NO_MEMORY;
            p->lines = more;
        }
        p->lines[p->count++] = (struct line){.path = at, .number = number};
    }
    return 0;
}

static int read_file(struct prefetch *p, const char *name)
{
    FILE *in = fopen(name, "re");
    if (!in) {
        log_error("--prefetch %s: %s", name, strerror(errno));
        return ERR_IO;
    }
    p->text = malloc(MAX_BYTES + 1);
    size_t len = p->text ? fread(p->text, 1, MAX_BYTES, in) : 0;
    bool is_whole = p->text && !ferror(in) && fgetc(in) == EOF;
    fclose(in);
    if (is_whole)
        return split(p, len);
    log_error("--prefetch %s: cannot be read, or longer than %d bytes", name, MAX_BYTES);
    return ERR_IO;
}

// Returns the next line whose film is not stored; NULL: the list is through.
static struct line *next_line(struct prefetch *p)
{
    while (p->next < p->count) {
        struct line *l = &p->lines[p->next++];
        if (!l->is_over)
            return l;
    }
    return NULL;
}

// ---- A film

static void leave(struct prefetch *p)
{
    p->config.catalog->ops->leave(p->config.catalog, &p->hold);
    store_film_release(p->film);
    p->film = NULL;
    p->line = NULL;
    p->waits = false;
}

static void fail(struct prefetch *p, const char *why)
{
    if (p->line->is_named)
        log_debug("%s is not stored in advance: %s", p->line->path, why);
    else
        log_warn("--prefetch, line %d: %s is not stored in advance: %s", p->line->number,
                 p->line->path, why);
    p->line->is_named = true;
    leave(p);
}

static void finish(struct prefetch *p)
{
    p->line->is_over = true;
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

// What has failed before is tried afresh.
static void want(struct store_fetch *fetch)
{
    fetch->is_wanted = true;
    fetch->tries = 0;
    fetch->after = 0;
}

// The origin describes the film: the catalog makes its entry in the store.
static void describe(struct prefetch *p, usec_t now)
{
    struct stream *stream;
    struct url url;
    if (origin_url_of(p->config.rules, p->line->path, &url) != 0) {
        p->line->is_over = true;
        fail(p, "it is no path of an origin that is relayed");
        return;
    }
    p->hold.on_ready = on_ready;
    p->hold.ctx = p;
    struct catalog *c = p->config.catalog;
    int result = c->ops->take(c, p->line->path, &p->hold, false, &stream);
    if (result == CATALOG_WAITS) {
        p->waits = true;
        return;
    }
    if (!result)
        p->film = store_find(p->config.store, url.text);
    c->ops->leave(c, &p->hold);
    if (result)
        fail(p, result == CATALOG_REFUSED ? p->hold.refusal.text : err_text(result));
    else if (!p->film)
        fail(p, "it is not of a kind that can be stored");
    else if (store_film_is_complete(p->film, store_film_sizes(p->film) - 1))
        finish(p);
    else if (!has_room(p, now))
        fail(p, NO_ROOM);
    else
        want(store_film_fetch(p->film));
}

static void look(struct prefetch *p, usec_t now)
{
    struct store_fetch *fetch = store_film_fetch(p->film);
    if (store_film_is_complete(p->film, store_film_sizes(p->film) - 1)) {
        fetch->is_wanted = false;
        finish(p);
    } else if (store_film_is_full(p->film, now)) {
        fetch->is_wanted = false;
        fail(p, NO_ROOM);
    } else if (fetch->tries >= GIVE_UP) {
        fetch->is_wanted = false;
        fail(p, "its origin does not send it");
    }
}

static bool has_left(const struct prefetch *p)
{
    for (int i = 0; i < p->count; i++)
        if (!p->lines[i].is_over)
            return true;
    return false;
}

static void on_timer(void *ctx, usec_t now)
{
    struct prefetch *p = ctx;
    if (p->film)
        look(p, now);
    if (!p->line)
        p->line = next_line(p);
    if (!p->line) {
        p->next = 0;
        if (has_left(p))
            timer_set(p->timer, now + p->config.again);
        return;
    }
    if (!p->film && !p->waits)
        describe(p, now);
    timer_set(p->timer, now + (p->line ? LOOK_EVERY : 0));
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
    free(p->lines);
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
    free(p->lines);
    free(p->text);
    free(p);
}
