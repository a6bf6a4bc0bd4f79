// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/export/control_gate.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/err.h"
#include "common/net/clock.h"

struct control_gate {
    uv_async_t wake;
    control_gate_fn *fn;
    void *ctx;            // borrowed
    pthread_mutex_t lock; // guards the following
    pthread_cond_t answered;
    bool closed;
    bool is_waiting; // `request` was not begun
    bool is_done;    // `result` and `json` are those of `request`
    struct control_request request;
    int result;
    char *json; // owned until it is handed out
};

// The lock is held while the request is served: the asking thread has nothing else to do.
static void on_wake(uv_async_t *wake)
{
    struct control_gate *g = wake->data;
    pthread_mutex_lock(&g->lock);
    if (g->is_waiting && !g->closed) {
        g->is_waiting = false;
        g->result = g->fn(g->ctx, &g->request, &g->json, clock_now());
        g->is_done = true;
        pthread_cond_signal(&g->answered);
    }
    pthread_mutex_unlock(&g->lock);
}

struct control_gate *control_gate_new(uv_loop_t *loop, control_gate_fn *fn, void *ctx)
{
    pthread_condattr_t monotonic;
    struct control_gate *g = calloc(1, sizeof(*g));
    if (!g)
        return NULL;
    if (uv_async_init(loop, &g->wake, on_wake) != 0) {
        free(g);
        return NULL;
    }
    g->wake.data = g;
    uv_unref((uv_handle_t *)&g->wake);
    g->fn = fn;
    g->ctx = ctx;
    pthread_mutex_init(&g->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&g->answered, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return g;
}

void control_gate_close(struct control_gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->closed = true;
    pthread_cond_signal(&g->answered);
    pthread_mutex_unlock(&g->lock);
}

static void on_closed(uv_handle_t *handle)
{
    struct control_gate *g = handle->data;
    pthread_cond_destroy(&g->answered);
    pthread_mutex_destroy(&g->lock);
    free(g->json);
    free(g);
}

void control_gate_free(struct control_gate *g)
{
    if (g)
        uv_close((uv_handle_t *)&g->wake, on_closed);
}

int control_gate_ask(struct control_gate *g, const struct control_request *r, char **json)
{
    usec_t deadline = clock_now() + CONTROL_GATE_WAIT_S * USEC_PER_SEC;
    struct timespec until = {.tv_sec = deadline / USEC_PER_SEC,
                             .tv_nsec = deadline % USEC_PER_SEC * 1000};
    int err = 0;
    *json = NULL;
    pthread_mutex_lock(&g->lock);
    if (!g->closed) {
        g->request = *r;
        g->is_waiting = true;
        g->is_done = false;
        uv_async_send(&g->wake);
    }
    while (!g->closed && !g->is_done && !err)
        err = pthread_cond_timedwait(&g->answered, &g->lock, &until);
    g->is_waiting = false;
    int result = g->is_done ? g->result : g->closed ? ERR_CLOSED : ERR_TIMED_OUT;
    *json = g->json;
    g->json = NULL;
    g->is_done = false;
    pthread_mutex_unlock(&g->lock);
    return result;
}
