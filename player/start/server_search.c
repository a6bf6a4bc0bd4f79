// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/start/server_search.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/err.h"
#include "common/discovery/discovery.h"
#include "common/net/abandonable_thread.h"

#define SEARCH_TIME  (2 * USEC_PER_SEC)
#define SEARCH_PAUSE (3 * USEC_PER_SEC)

_Static_assert((int)DISCOVERY_SERVERS <= (int)START_FOUND, "all that are found are shown");

struct search { // shared with the thread, which owns it once it is abandoned
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stops;
    int count;
    struct start_item found[START_FOUND];
    void (*on_found)(void *ctx); // NULL: the owner is gone
    void *ctx;
};

struct server_search {
    struct search *shared;
    struct abandonable_thread *thread;
};

static void destroy(void *arg)
{
    struct search *s = arg;
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void keep(struct search *s, const struct found_server *found, int count)
{
    s->count = count < 0 && count != ERR_UNSUPPORTED ? 0 : count;
    for (int i = 0; i < count; i++) {
        snprintf(s->found[i].url, sizeof(s->found[i].url), "%s", found[i].url);
        snprintf(s->found[i].name, sizeof(s->found[i].name), "%s", found[i].name);
    }
    if (s->on_found)
        s->on_found(s->ctx);
}

static void run(void *arg)
{
    struct search *s = arg;
    struct found_server *found = malloc(DISCOVERY_SERVERS * sizeof(*found));
    pthread_mutex_lock(&s->lock);
    while (found && !s->stops) {
        pthread_mutex_unlock(&s->lock);
        int count = discovery_find(SEARCH_TIME, found);
        pthread_mutex_lock(&s->lock);
        keep(s, found, count);
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += SEARCH_PAUSE / USEC_PER_SEC;
        while (!s->stops && pthread_cond_timedwait(&s->changed, &s->lock, &until) == 0)
            ;
    }
    pthread_mutex_unlock(&s->lock);
    free(found);
}

struct server_search *server_search_new(void (*on_found)(void *ctx), void *ctx)
{
    struct server_search *search = malloc(sizeof(*search));
    struct search *s = search ? calloc(1, sizeof(*s)) : NULL;
    if (!s) {
        free(search);
        return NULL;
    }
    s->count = ERR_AGAIN;
    s->on_found = on_found;
    s->ctx = ctx;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    *search = (struct server_search){s, abandonable_thread_new(run, s)};
    if (search->thread)
        return search;
    destroy(s);
    free(search);
    return NULL;
}

void server_search_free(struct server_search *search)
{
    if (!search)
        return;
    struct search *s = search->shared;
    pthread_mutex_lock(&s->lock);
    s->stops = true;
    s->on_found = NULL;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (abandonable_thread_end(search->thread, 0, destroy))
        destroy(s);
    free(search);
}

int server_search_read(struct server_search *search, struct start_item out[START_FOUND])
{
    struct search *s = search->shared;
    pthread_mutex_lock(&s->lock);
    int count = s->count;
    if (count > 0)
        memcpy(out, s->found, (size_t)count * sizeof(*out));
    pthread_mutex_unlock(&s->lock);
    return count;
}
