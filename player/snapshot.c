// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/snapshot.h"

#include <stdio.h>
#include <stdlib.h>

struct snapshot {
    uv_work_t work;
    struct picture *picture; // one reference
};

static void write_snapshot(uv_work_t *work)
{
    const struct snapshot *s = work->data;
    char path[64];
    snprintf(path, sizeof(path), "weir-snapshot-%lld.png", (long long)s->picture->number);
    if (picture_write_png(s->picture, path) == 0)
        printf("wrote %s\n", path);
}

static void on_written(uv_work_t *work, int status)
{
    (void)status;
    struct snapshot *s = work->data;
    picture_unref(s->picture);
    free(s);
}

void snapshot_take(uv_loop_t *loop, struct picture *p)
{
    struct snapshot *s = p ? calloc(1, sizeof(*s)) : NULL;
    if (!s)
        return;
    s->picture = picture_ref(p);
    s->work.data = s;
    if (uv_queue_work(loop, &s->work, write_snapshot, on_written) != 0)
        on_written(&s->work, 0);
}
