// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/resolver.h"

#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"

struct resolver {
    uv_getaddrinfo_t request;
    bool running; // the request is libuv's
    bool freed;   // the owner is gone: free when the request is done
    resolver_fn *fn;
    void *ctx; // borrowed
};

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    struct resolver *r = request->data;
    r->running = false;
    if (r->freed) {
        uv_freeaddrinfo(found);
        free(r);
        return;
    }
    struct sockaddr_storage addresses[RESOLVER_MAX_ADDRESSES];
    memset(addresses, 0, sizeof(addresses));
    int count = 0;
    for (struct addrinfo *a = found; a && count < RESOLVER_MAX_ADDRESSES; a = a->ai_next) {
        if (a->ai_family == AF_INET || a->ai_family == AF_INET6)
            memcpy(&addresses[count++], a->ai_addr, a->ai_addrlen);
    }
    uv_freeaddrinfo(found);
    r->fn(r->ctx, addresses, count, count ? "" : status ? uv_strerror(status) : "no address");
}

struct resolver *resolver_new(uv_loop_t *loop, const char *host, int port, resolver_fn *fn,
                              void *ctx)
{
    struct resolver *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->request.data = r;
    r->fn = fn;
    r->ctx = ctx;
    char service[16];
    snprintf(service, sizeof(service), "%d", port);
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    int err = uv_getaddrinfo(loop, &r->request, on_resolved, host, service, &hints);
    if (err) {
        log_error("cannot look up '%s': %s", host, uv_strerror(err));
        free(r);
        return NULL;
    }
    r->running = true;
    return r;
}

void resolver_free(struct resolver *r)
{
    if (!r)
        return;
    if (!r->running) {
        free(r);
        return;
    }
    r->freed = true;
    // When the look-up has begun it cannot be stopped: the callback then comes late, and frees.
    uv_cancel((uv_req_t *)&r->request);
}
