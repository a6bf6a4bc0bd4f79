// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/watch/clip_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "lab/watch/clip.h"

struct clip_source {
    struct source base; // first
    FILE *in;           // owned
    int64_t next;
};

static int next_picture(struct source *base, struct picture **out)
{
    struct clip_source *s = (struct clip_source *)base;
    char marker[sizeof(CLIP_FRAME)];
    if (!fgets(marker, sizeof(marker), s->in) && feof(s->in))
        return ERR_END;
    bool is_frame = strcmp(marker, CLIP_FRAME) == 0;
    struct picture *p = is_frame ? picture_new(base->width, base->height) : NULL;
    if (!p || !clip_read_picture(s->in, p)) {
        log_error("%s: %s", base->name, is_frame && !p ? "out of memory" : "the clip is cut off");
        picture_unref(p);
        return ERR_IO;
    }
    p->number = s->next++;
    p->pts = usec_of_frames(p->number, base->fps.num, base->fps.den);
    *out = p;
    return 0;
}

static void clip_source_free(struct source *base)
{
    struct clip_source *s = (struct clip_source *)base;
    fclose(s->in);
    free(s);
}

// Reads the first line. Returns true if it is that of clip_write.
static bool read_header(struct clip_source *s)
{
    char line[128], same[128];
    struct source *b = &s->base;
    if (!fgets(line, sizeof(line), s->in) || sscanf(line, "YUV4MPEG2 W%d H%d F%d:%d", &b->width,
                                                    &b->height, &b->fps.num, &b->fps.den) != 4)
        return false;
    snprintf(same, sizeof(same), CLIP_HEADER, b->width, b->height, b->fps.num, b->fps.den);
    return strcmp(line, same) == 0 && b->width > 0 && b->height > 0 && b->width % 2 == 0 &&
           b->height % 2 == 0 && b->width <= CLIP_MAX_SIDE && b->height <= CLIP_MAX_SIDE &&
           b->fps.num > 0 && b->fps.den > 0;
}

struct source *clip_source_open(const char *path)
{
    static const struct source_ops ops = {.next = next_picture, .free = clip_source_free};
    struct clip_source *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->base = (struct source){.ops = &ops, .kind = SDP_SOURCE_FILE, .duration = -1};
    snprintf(s->base.name, sizeof(s->base.name), "%.100s", path);
    s->in = fopen(path, "rb");
    if (s->in && read_header(s))
        return &s->base;
    if (s->in)
        fclose(s->in);
    free(s);
    return NULL;
}
