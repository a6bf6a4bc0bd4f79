// SPDX-License-Identifier: GPL-2.0-or-later
// Each look-up of a name has a detached thread. A look-up at a silent name server takes half a
// minute and cannot be cancelled, so it may outlive its owner and the loop. A relay makes one for
// each viewer, and viewers come and go, so at most MAX_THREADS run. An address needs none.
#include "client/rtsp/resolver.h"

#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/wire/url.h"

enum { MAX_THREADS = 256 };
static atomic_int threads; // that run

struct resolver {
    uv_async_t done; // wakes the loop
    resolver_fn *fn;
    void *ctx; // borrowed
    char host[URL_MAX_HOST];
    char service[16];
    pthread_mutex_t lock;   // guards the members below
    bool freed;             // true after the owner freed it
    int holders;            // 2, 1 or 0: the loop and the thread, while each uses this object
    struct addrinfo *found; // owned
    int status;             // result of getaddrinfo
};

static void let_go(struct resolver *r)
{
    pthread_mutex_lock(&r->lock);
    bool last = --r->holders == 0;
    pthread_mutex_unlock(&r->lock);
    if (!last)
        return;
    if (r->found)
        freeaddrinfo(r->found);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

// `flags`: of getaddrinfo. Returns its result.
static int find(const struct resolver *r, int flags, struct addrinfo **out)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags};
    return getaddrinfo(r->host, r->service, &hints, out);
}

static void *look_up(void *arg)
{
    struct resolver *r = arg;
    struct addrinfo *found = NULL;
    int status = find(r, 0, &found);
    pthread_mutex_lock(&r->lock);
    r->found = status ? NULL : found;
    r->status = status;
    if (!r->freed)
        uv_async_send(&r->done);
    pthread_mutex_unlock(&r->lock);
    let_go(r);
    atomic_fetch_sub(&threads, 1);
    return NULL;
}

static void on_done(uv_async_t *done)
{
    struct resolver *r = done->data;
    struct sockaddr_storage addresses[RESOLVER_MAX_ADDRESSES];
    memset(addresses, 0, sizeof(addresses));
    int count = 0;
    pthread_mutex_lock(&r->lock);
    int status = r->status;
    for (struct addrinfo *a = r->found; a && count < RESOLVER_MAX_ADDRESSES; a = a->ai_next) {
        if (a->ai_family == AF_INET || a->ai_family == AF_INET6)
            memcpy(&addresses[count++], a->ai_addr, a->ai_addrlen);
    }
    pthread_mutex_unlock(&r->lock);
    r->fn(r->ctx, addresses, count, count ? "" : status ? gai_strerror(status) : "no address");
}

static void on_closed(uv_handle_t *handle)
{
    let_go(handle->data);
}

static bool start(struct resolver *r)
{
    pthread_attr_t attributes;
    pthread_t thread;
    atomic_fetch_add(&threads, 1);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool started = pthread_create(&thread, &attributes, look_up, r) == 0;
    pthread_attr_destroy(&attributes);
    if (!started)
        atomic_fetch_sub(&threads, 1);
    return started;
}

struct resolver *resolver_new(uv_loop_t *loop, const char *host, int port, resolver_fn *fn,
                              void *ctx)
{
    struct resolver *r = calloc(1, sizeof(*r));
    if (!r || uv_async_init(loop, &r->done, on_done) != 0) {
        log_error("cannot look up '%s': out of memory", host);
        free(r);
        return NULL;
    }
    r->done.data = r;
    r->fn = fn;
    r->ctx = ctx;
    r->holders = 2;
    pthread_mutex_init(&r->lock, NULL);
    snprintf(r->host, sizeof(r->host), "%s", host);
    snprintf(r->service, sizeof(r->service), "%d", port);
    r->status = find(r, AI_NUMERICHOST, &r->found);
    bool full = atomic_load(&threads) >= MAX_THREADS;
    if (r->status == 0 || full) {
        r->status = r->status ? EAI_AGAIN : 0;
        r->holders = 1;
        uv_async_send(&r->done);
        return r;
    }
    if (start(r))
        return r;
    log_error("cannot look up '%s': cannot start a thread", host);
    r->holders = 1;
    resolver_free(r);
    return NULL;
}

void resolver_free(struct resolver *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->freed = true;
    pthread_mutex_unlock(&r->lock);
    uv_close((uv_handle_t *)&r->done, on_closed);
}
