// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/subtitle_draw.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "player/ui/text_script.h"

struct worker {
    pthread_mutex_t lock; // guards the rest, but `image` while `renders`
    pthread_cond_t wakes;
    int references; // of the owner and the thread
    bool leaves;
    bool has_set; // `set` was not taken yet
    struct subtitle_set set;
    bool has_view; // `view` was not rendered yet
    struct subtitle_view view;
    bool renders;
    bool is_ready; // `image` was not drawn yet
    struct text_image image;
};

struct subtitle_draw {
    SDL_Renderer *renderer; // borrowed
    struct worker *worker;  // shared with the thread
    bool begun;             // the thread was made, or could not be
    bool has_head;
    SDL_Texture *texture; // owned; NULL: nothing is shown
    SDL_Rect at;          // of the texture in the picture
    bool forgets;         // the texture is lost
    usec_t since;         // when the thread was given what it renders now; 0: it waits
    bool is_late;         // it takes longer than the limit
};

// ---- The thread

static void unref(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    bool last = --w->references == 0;
    pthread_mutex_unlock(&w->lock);
    if (!last)
        return;
    text_image_destroy(&w->image);
    pthread_cond_destroy(&w->wakes);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

// Caller holds the lock. Renders one view without it.
static void render(struct worker *w, struct text_script *script, struct subtitle_set *set)
{
    struct subtitle_view view = w->view;
    bool is_new = w->has_set;
    w->has_view = w->has_set = false;
    bool new_head = is_new && strcmp(set->head, w->set.head) != 0;
    if (is_new)
        memcpy(set, &w->set, sizeof(*set));
    w->renders = true;
    pthread_mutex_unlock(&w->lock);
    if (new_head)
        text_script_head(script, set->head);
    if (is_new)
        text_script_cues(script, set->cues, set->count);
    text_script_frame(script, view.picture.w, view.picture.h, view.film_width, view.film_height,
                      100.0 * view.raised / view.picture.h);
    enum text_change change = text_script_draw(script, view.at, &w->image);
    pthread_mutex_lock(&w->lock);
    w->renders = false;
    w->is_ready |= change != TEXT_SAME;
}

static void *run(void *ctx)
{
    struct worker *w = ctx;
    struct text_script *script = text_script_new();
    struct subtitle_set *set = calloc(1, sizeof(*set));
    pthread_mutex_lock(&w->lock);
    while (script && set && !w->leaves) {
        // What is ready is drawn first: `image` is the owner's until then.
        if (w->has_view && !w->is_ready)
            render(w, script, set);
        else
            pthread_cond_wait(&w->wakes, &w->lock);
    }
    w->has_view = false;
    pthread_mutex_unlock(&w->lock);
    text_script_free(script);
    free(set);
    unref(w);
    return NULL;
}

// ---- The owner

struct subtitle_draw *subtitle_draw_new(SDL_Renderer *renderer)
{
    struct subtitle_draw *d = calloc(1, sizeof(*d));
    struct worker *w = d ? calloc(1, sizeof(*w)) : NULL;
    if (!w) {
        free(d);
        return NULL;
    }
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wakes, NULL);
    w->references = 1;
    d->renderer = renderer;
    d->worker = w;
    return d;
}

void subtitle_draw_free(struct subtitle_draw *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->worker->lock);
    d->worker->leaves = true;
    pthread_cond_signal(&d->worker->wakes);
    pthread_mutex_unlock(&d->worker->lock);
    unref(d->worker);
    if (d->texture)
        SDL_DestroyTexture(d->texture);
    free(d);
}

// The thread is made for the first film with subtitles: it looks for fonts.
static void begin(struct subtitle_draw *d)
{
    pthread_t thread;
    d->begun = true;
    d->worker->references++;
    if (pthread_create(&thread, NULL, run, d->worker) == 0) {
        pthread_detach(thread);
        return;
    }
    d->worker->references--;
    log_warn("cannot draw subtitles: no thread");
}

void subtitle_draw_set(struct subtitle_draw *d, const struct subtitle_set *set)
{
    struct worker *w = d->worker;
    d->has_head = *set->head;
    if (!d->begun && !d->has_head)
        return;
    if (!d->begun)
        begin(d);
    pthread_mutex_lock(&w->lock);
    if (strcmp(w->set.head, set->head) != 0)
        d->is_late = false; // another track
    memcpy(&w->set, set, sizeof(*set));
    w->has_set = true;
    pthread_mutex_unlock(&w->lock);
}

static void drop(struct subtitle_draw *d)
{
    if (d->texture)
        SDL_DestroyTexture(d->texture);
    d->texture = NULL;
}

// Caller holds the lock.
static void take_image(struct subtitle_draw *d)
{
    const struct text_image *i = &d->worker->image;
    drop(d);
    d->worker->is_ready = d->forgets = false;
    d->at = (SDL_Rect){i->area.x, i->area.y, i->area.w, i->area.h};
    if (!i->area.w || !i->area.h)
        return;
    d->texture = SDL_CreateTexture(d->renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STATIC,
                                   i->area.w, i->area.h);
    if (!d->texture ||
        SDL_UpdateTexture(d->texture, NULL, i->pixels, i->area.w * (int)sizeof(*i->pixels)) != 0)
        log_debug("cannot draw a subtitle: %s", SDL_GetError());
    if (d->texture)
        SDL_SetTextureBlendMode(d->texture, SDL_BLENDMODE_BLEND);
}

// Caller holds the lock.
static void watch(struct subtitle_draw *d, usec_t now)
{
    if (!d->worker->renders)
        d->since = 0;
    else if (!d->since)
        d->since = now;
    if (!d->since || now - d->since < SUBTITLE_DRAW_LIMIT || d->is_late)
        return;
    d->is_late = true;
    drop(d);
    log_warn("the film's subtitles are not shown: one took longer than %d s to draw",
             (int)(SUBTITLE_DRAW_LIMIT / USEC_PER_SEC));
}

void subtitle_draw_show(struct subtitle_draw *d, const struct subtitle_view *view, usec_t now)
{
    struct worker *w = d->worker;
    if (!d->begun || view->picture.w < 1 || view->picture.h < 1)
        return;
    pthread_mutex_lock(&w->lock);
    if (w->is_ready || (d->forgets && !w->renders))
        take_image(d);
    watch(d, now);
    if (!d->is_late) {
        w->view = *view;
        w->has_view = true;
        pthread_cond_signal(&w->wakes);
    }
    pthread_mutex_unlock(&w->lock);
    if (!d->texture || d->is_late || !d->has_head)
        return;
    SDL_Rect to = {view->picture.x + d->at.x, view->picture.y + d->at.y, d->at.w, d->at.h};
    SDL_RenderCopy(d->renderer, d->texture, NULL, &to);
}

bool subtitle_draw_is_busy(struct subtitle_draw *d)
{
    struct worker *w = d->worker;
    if (!d->begun || d->is_late)
        return false;
    pthread_mutex_lock(&w->lock);
    bool busy = w->has_view || w->renders || w->is_ready;
    pthread_mutex_unlock(&w->lock);
    return busy;
}

void subtitle_draw_forget(struct subtitle_draw *d)
{
    d->forgets = true;
}
