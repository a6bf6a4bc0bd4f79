// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/group_still.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/net/worker.h"

enum { TAIL = 64 }; // zero bytes after a frame

struct group_still {
    struct worker *worker; // owned
    enum decoder_order order;
    group_still_fn *done; // static
    void *ctx;            // borrowed
    atomic_bool stops;
};

static void free_job(void *job)
{
    frame_group_clear(job);
    free(job);
}

static void run(void *ctx, void *job)
{
    struct group_still *g = ctx;
    const struct frame_group *group = job;
    struct decoder *d = decoder_new(g->order);
    struct picture *newest = NULL;
    for (int i = 0; d && i < group->count && !atomic_load(&g->stops); i++) {
        const struct coded_frame *f = group->frames[i];
        uint8_t *data = calloc(1, f->bytes + TAIL);
        struct picture *p = NULL;
        if (data)
            memcpy(data, f->data, f->bytes);
        int err = data ? decoder_decode(d, data, f->bytes, f->number, &p) : -1;
        free(data);
        for (; p; p = decoder_more(d)) {
            picture_unref(newest);
            newest = p;
        }
        if (err)
            break;
    }
    decoder_free(d);
    free_job(job);
    if (atomic_load(&g->stops))
        picture_unref(newest);
    else
        g->done(g->ctx, newest);
}

struct group_still *group_still_new(enum decoder_order order, group_still_fn *done, void *ctx)
{
    static const struct worker_ops ops = {.run = run, .free_job = free_job};
    struct group_still *g = calloc(1, sizeof(*g));
    if (!g)
        return NULL;
    g->order = order;
    g->done = done;
    g->ctx = ctx;
    g->worker = worker_new(&ops, 1, g);
    if (g->worker)
        return g;
    free(g);
    return NULL;
}

bool group_still_decode(struct group_still *g, const struct frame_group *group, int count)
{
    struct frame_group *job = calloc(1, sizeof(*job));
    for (int i = 0; job && i < count && i < group->count; i++)
        frame_group_add(job, group->frames[i]);
    if (job && worker_push(g->worker, job))
        return true;
    if (job)
        free_job(job);
    return false;
}

void group_still_free(struct group_still *g)
{
    if (!g)
        return;
    atomic_store(&g->stops, true);
    worker_free(g->worker);
    free(g);
}
