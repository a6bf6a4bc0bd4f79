// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/workers.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/mailbox.h"
#include "common/net/worker_queue.h"

struct workers {
    struct worker_queue *queue; // owned; of struct work
    struct mailbox *back;       // owned; of struct work
    bool closed;                // workers_free was called, the threads have not all ended
    int threads;                // for works that are not late
    int waiting;                // max. works that wait
    int count;                  // works that were added, and are neither done nor late
    int late;                   // late works
    int started;                // threads started, up to `threads` + WORKERS_LATE
    int gone;                   // threads that have ended
    struct work farewell;       // a marker that each thread posts last
    pthread_t handles[];
};

static void drop(void *item)
{
    struct work *w = item;
    if (w->drop)
        w->drop(w);
}

static void *run(void *arg)
{
    struct workers *ws = arg;
    struct work *w;
    while ((w = worker_queue_pop(ws->queue, USEC_NEVER))) {
        w->run(w);
        (void)mailbox_post(ws->back, w); // never full: it has room for all works
    }
    (void)mailbox_post(ws->back, &ws->farewell);
    return NULL;
}

static void free_all(struct workers *ws)
{
    if (ws->queue)
        worker_queue_free(ws->queue);
    mailbox_free(ws->back);
    free(ws);
}

static void on_back(void *ctx, void *item, usec_t now)
{
    struct workers *ws = ctx;
    struct work *w = item;
    if (w == &ws->farewell) {
        if (++ws->gone < ws->started)
            return;
        for (int i = 0; i < ws->started; i++)
            pthread_join(ws->handles[i], NULL); // returns at once: the farewell is posted last
        free_all(ws);
    } else if (ws->closed) {
        drop(w);
    } else {
        ws->late -= w->late;
        ws->count -= !w->late;
        w->done(w, now);
    }
}

static bool start_thread(struct workers *ws)
{
    if (pthread_create(&ws->handles[ws->started], NULL, run, ws) != 0)
        return false;
    ws->started++;
    return true;
}

struct workers *workers_new(uv_loop_t *loop, int threads, int waiting)
{
    int max = threads + WORKERS_LATE;
    struct workers *ws = calloc(1, sizeof(*ws) + (size_t)max * sizeof(pthread_t));
    if (ws) {
        ws->threads = threads;
        ws->waiting = waiting;
        ws->queue = worker_queue_new(waiting, drop);
        ws->back = mailbox_new(loop, waiting + 2 * max, on_back, drop, ws); // with the farewells
    }
    while (ws && ws->queue && ws->back && ws->started < threads && start_thread(ws))
        ;
    if (ws && ws->started == threads)
        return ws;
    log_error("cannot start the threads that open files");
    workers_free(ws);
    return NULL;
}

int workers_add(struct workers *ws, struct work *w)
{
    w->late = false;
    if (ws->count == ws->waiting + ws->threads || !worker_queue_push(ws->queue, w))
        return ERR_FULL;
    ws->count++;
    return 0;
}

// A thread that came in addition stays for the next late work.
void workers_late(struct workers *ws, struct work *w)
{
    if (w->late || ws->late == WORKERS_LATE)
        return;
    if (ws->started < ws->threads + ws->late + 1 && !start_thread(ws)) {
        log_warn("cannot start another thread that opens files");
        return;
    }
    w->late = true;
    ws->late++;
    ws->count--;
}

void workers_free(struct workers *ws)
{
    if (!ws)
        return;
    if (!ws->started) {
        free_all(ws);
        return;
    }
    ws->closed = true;
    worker_queue_clear(ws->queue);
    worker_queue_close(ws->queue);
}
