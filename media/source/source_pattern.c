// SPDX-License-Identifier: GPL-2.0-or-later
// The test picture as a source: endless, live.
#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/pattern/pattern_picture.h"
#include "media/source/source.h"

struct source_pattern {
    struct source base;
    struct pattern_picture *picture; // owned
    int64_t next;
};

static int test_next(struct source *base, struct picture **out)
{
    struct source_pattern *s = (struct source_pattern *)base;
    struct picture *p = picture_new(base->width, base->height);
    if (!p) {
        log_error("%s: no memory for a picture", base->name);
        return ERR_IO;
    }
    pattern_picture_draw(s->picture, s->next++, p);
    *out = p;
    return 0;
}

static void test_free(struct source *base)
{
    struct source_pattern *s = (struct source_pattern *)base;
    pattern_picture_free(s->picture);
    free(s);
}

static const struct source_ops test_ops = {.next = test_next, .seek = NULL, .free = test_free};

struct source *source_pattern_new(int width, int height, struct fps fps)
{
    struct source_pattern *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->base = (struct source){.ops = &test_ops,
                              .kind = SDP_SOURCE_TEST,
                              .width = width,
                              .height = height,
                              .fps = fps,
                              .duration = -1};
    if (fps.den == 1)
        snprintf(s->base.name, sizeof(s->base.name), "test:%dx%d@%d", width, height, fps.num);
    else
        snprintf(s->base.name, sizeof(s->base.name), "test:%dx%d@%d/%d", width, height, fps.num,
                 fps.den);
    s->picture = pattern_picture_new(width, height, fps);
    if (!s->picture) {
        free(s);
        return NULL;
    }
    return &s->base;
}
