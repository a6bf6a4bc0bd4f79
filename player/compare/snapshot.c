// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/compare/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SNAPSHOT_NAME = 64 };

struct snapshot {
    uv_work_t work;
    struct picture *picture; // one reference
    char name[SNAPSHOT_NAME];
    bool written;
    snapshot_fn *done;
    void *ctx; // borrowed
};

static void write_snapshot(uv_work_t *work)
{
    struct snapshot *s = work->data;
    s->written = picture_write_png(s->picture, s->name) == 0;
    if (s->written)
        printf("wrote %s\n", s->name);
}

static void on_written(uv_work_t *work, int status)
{
    (void)status;
    struct snapshot *s = work->data;
    s->done(s->ctx, s->name, s->written);
    picture_unref(s->picture);
    free(s);
}

void snapshot_take(uv_loop_t *loop, struct picture *p, snapshot_fn *done, void *ctx)
{
    char name[SNAPSHOT_NAME];
    snprintf(name, sizeof(name), "weir-snapshot-%lld.png", (long long)p->number);
    struct snapshot *s = calloc(1, sizeof(*s));
    if (!s) {
        done(ctx, name, false);
        return;
    }
    *s = (struct snapshot){.picture = picture_ref(p), .done = done, .ctx = ctx};
    memcpy(s->name, name, sizeof(name));
    s->work.data = s;
    if (uv_queue_work(loop, &s->work, write_snapshot, on_written) != 0)
        on_written(&s->work, 0);
}
