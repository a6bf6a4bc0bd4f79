// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct snapshot {
    uv_work_t work;
    struct picture *picture; // one reference
    char name[SNAPSHOT_NAME];
};

static void write_snapshot(uv_work_t *work)
{
    const struct snapshot *s = work->data;
    if (picture_write_png(s->picture, s->name) == 0)
        printf("wrote %s\n", s->name);
}

static void on_written(uv_work_t *work, int status)
{
    (void)status;
    struct snapshot *s = work->data;
    picture_unref(s->picture);
    free(s);
}

void snapshot_take(uv_loop_t *loop, struct picture *p, char name[SNAPSHOT_NAME])
{
    snprintf(name, SNAPSHOT_NAME, "weir-snapshot-%lld.png", (long long)p->number);
    struct snapshot *s = calloc(1, sizeof(*s));
    if (!s)
        return;
    s->picture = picture_ref(p);
    memcpy(s->name, name, SNAPSHOT_NAME);
    s->work.data = s;
    if (uv_queue_work(loop, &s->work, write_snapshot, on_written) != 0)
        on_written(&s->work, 0);
}
