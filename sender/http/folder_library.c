// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/folder_library.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/wire/request_path.h"

struct film {
    struct film_library *library; // owned; NULL: there is room for a film
    char mount[REQUEST_PATH_MAX];
    usec_t used; // the last request
};

struct folder_library {
    struct http_content base; // first
    struct folder_library_config config;
    char *root;           // owned
    pthread_mutex_t lock; // guards the members below
    struct film films[FOLDER_LIBRARY_FILMS];
    bool is_wanted; // a request found no room
    bool is_stopped;
};

// Caller holds l->lock. Opens the film. Returns 0 or ERR_NO_MEMORY.
static int open_film(struct folder_library *l, struct film *f, const char *mount)
{
    strcpy(f->mount, mount);
    struct film_library_config config = {.file = f->mount + 1,
                                         .root = l->root,
                                         .find = l->config.find,
                                         .mount = f->mount,
                                         .has_audio = l->config.has_audio,
                                         .aac_bps = l->config.aac_bps,
                                         .max_kept = l->config.max_kept,
                                         .on_change = l->config.on_change,
                                         .ctx = l->config.ctx};
    f->library = film_library_new(&config);
    if (f->library && film_library_open(f->library) == 0)
        return 0;
    film_library_free(f->library); // its thread has no work
    f->library = NULL;
    return ERR_NO_MEMORY;
}

// Caller holds l->lock. Finds the film at the mount, and opens it if it is not there. Returns 0,
// ERR_NO_MEMORY, or ERR_FULL: no room.
static int find_film(struct folder_library *l, const char *mount, struct film **out)
{
    struct film *room = NULL;
    for (int i = 0; i < FOLDER_LIBRARY_FILMS; i++) {
        *out = &l->films[i];
        if (!(*out)->library)
            room = *out;
        else if (strcmp((*out)->mount, mount) == 0)
            return 0;
    }
    *out = room;
    return room ? open_film(l, room, mount) : ERR_FULL;
}

// Caller holds l->lock. Lets the other films' segments go, from the film on whose last request is
// the oldest, until all of them keep no more than they may.
static void trim_others(struct folder_library *l, const struct film *but)
{
    bool is_empty[FOLDER_LIBRARY_FILMS] = {false};
    while (film_library_kept() > l->config.max_kept) {
        int oldest = -1;
        for (int i = 0; i < FOLDER_LIBRARY_FILMS; i++) {
            const struct film *f = &l->films[i];
            if (f != but && f->library && !is_empty[i] &&
                (oldest < 0 || f->used < l->films[oldest].used))
                oldest = i;
        }
        if (oldest < 0)
            return;
        is_empty[oldest] = !film_library_trim(l->films[oldest].library);
    }
}

static int get_locked(struct folder_library *l, const char *mount, const struct content_request *r,
                      usec_t begun, usec_t now, struct http_reply *out)
{
    struct film *f;
    if (l->is_stopped)
        return ERR_FULL;
    int err = find_film(l, mount, &f);
    if (err == ERR_FULL) {
        l->is_wanted = true;
        out->deadline = begun + FILM_PATIENCE;
        return HTTP_WAITS;
    }
    if (err)
        return err;
    trim_others(l, f);
    struct http_content *film = film_library_content(f->library);
    err = film->ops->get(film, r, begun, now, out);
    if (err != ERR_NOT_FOUND)
        f->used = now;
    return err;
}

static int get(struct http_content *c, const struct content_request *r, usec_t begun, usec_t now,
               struct http_reply *out)
{
    struct folder_library *l = (struct folder_library *)c;
    char mount[REQUEST_PATH_MAX], url[REQUEST_URL_PATH_MAX];
    if (r->target.mount < 2 || r->target.mount >= sizeof(mount))
        return ERR_NOT_FOUND;
    memcpy(mount, r->path, r->target.mount);
    mount[r->target.mount] = '\0';
    if (request_path_encode(mount + 1, url, sizeof(url)) < 0)
        return ERR_NOT_FOUND; // hidden, or out of the folder
    pthread_mutex_lock(&l->lock);
    int err = get_locked(l, mount, r, begun, now, out);
    pthread_mutex_unlock(&l->lock);
    return err;
}

// Caller holds l->lock. Takes the films to close out of their places: those that cannot be opened,
// and of the others the one whose last request is the oldest. If a film waits for room, those that
// cannot be opened go at once, and in place of another one: else requests for names that do not
// exist could keep all the room, and close the films that are watched.
static int take_films_to_close(struct folder_library *l, struct film_library *out[], usec_t now)
{
    struct film *oldest = NULL;
    int count = 0;
    for (int i = 0; i < FOLDER_LIBRARY_FILMS; i++) {
        struct film *f = &l->films[i];
        enum film_library_state state = f->library ? film_library_state(f->library) : FILM_READING;
        bool is_idle = now - f->used >= (l->is_wanted ? FOLDER_LIBRARY_BUSY : FOLDER_LIBRARY_IDLE);
        if (state == FILM_BROKEN && (l->is_wanted || now - f->used >= FOLDER_LIBRARY_BUSY)) {
            out[count++] = f->library;
            f->library = NULL;
        } else if (state == FILM_RESTS && is_idle && (!oldest || f->used < oldest->used)) {
            oldest = f;
        }
    }
    if (oldest && !(l->is_wanted && count)) {
        out[count++] = oldest->library;
        oldest->library = NULL;
    }
    return count;
}

// The films are freed without the lock, which the server's thread may hold while a film's thread
// waits to wake the server. The films' threads are idle, so this does not wait for a disk.
void folder_library_tick(struct folder_library *l, usec_t now)
{
    struct film_library *closed[FOLDER_LIBRARY_FILMS];
    pthread_mutex_lock(&l->lock);
    int count = take_films_to_close(l, closed, now);
    bool was_wanted = l->is_wanted;
    l->is_wanted = false;
    pthread_mutex_unlock(&l->lock);
    for (int i = 0; i < count; i++)
        film_library_free(closed[i]);
    if (was_wanted)
        l->config.on_change(l->config.ctx); // the requests are decided again
}

struct folder_library *folder_library_new(const struct folder_library_config *config)
{
    static const struct http_content_ops content_ops = {.get = get};
    struct folder_library *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    pthread_mutex_init(&l->lock, NULL);
    l->base.ops = &content_ops;
    l->config = *config;
    if (!l->config.max_kept)
        l->config.max_kept = FOLDER_LIBRARY_BYTES;
    l->root = strdup(config->root);
    if (l->root)
        return l;
    folder_library_free(l);
    return NULL;
}

void folder_library_stop(struct folder_library *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->is_stopped = true; // from here on the server, which may still run, opens no film
    pthread_mutex_unlock(&l->lock);
    for (int i = 0; i < FOLDER_LIBRARY_FILMS; i++)
        film_library_stop(l->films[i].library);
}

void folder_library_free(struct folder_library *l)
{
    if (!l)
        return;
    for (int i = 0; i < FOLDER_LIBRARY_FILMS; i++)
        film_library_free(l->films[i].library);
    pthread_mutex_destroy(&l->lock);
    free(l->root);
    free(l);
}

struct http_content *folder_library_content(struct folder_library *l)
{
    return &l->base;
}
