// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/watch/clip.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/pattern/pattern_strip.h"

enum { MIN_HEIGHT = 720 };

bool clip_read_picture(FILE *in, struct picture *p)
{
    for (int i = 0; i < 3; i++) {
        size_t width = (size_t)(i ? p->width / 2 : p->width);
        for (int y = 0; y < (i ? p->height / 2 : p->height); y++) {
            if (fread(p->plane[i] + (ptrdiff_t)y * p->stride[i], 1, width, in) != width)
                return false;
        }
    }
    return true;
}

static bool write_picture(const struct picture *p, FILE *out)
{
    if (fputs(CLIP_FRAME, out) < 0)
        return false;
    for (int i = 0; i < 3; i++) {
        size_t width = (size_t)(i ? p->width / 2 : p->width);
        for (int y = 0; y < (i ? p->height / 2 : p->height); y++) {
            if (fwrite(p->plane[i] + (ptrdiff_t)y * p->stride[i], 1, width, out) != width)
                return false;
        }
    }
    return true;
}

// Draws on a copy, as a source may keep its picture and return it again.
static int write_frames(struct source *source, int64_t frames, struct scaler *scaler,
                        struct picture *copy, FILE *out)
{
    for (int64_t n = 0; n < frames; n++) {
        struct picture *p;
        int err = source->ops->next(source, &p);
        if (err)
            return err == ERR_END ? 0 : err;
        err = scaler_run(scaler, p, copy);
        picture_unref(p);
        if (err)
            return err;
        pattern_strip_draw(n, copy);
        if (!write_picture(copy, out))
            return ERR_IO;
    }
    return 0;
}

int clip_write(struct source *source, int64_t frames, bool as_is, FILE *out)
{
    int width = source->width, height = source->height;
    if (height < MIN_HEIGHT && !as_is) {
        width = (width * MIN_HEIGHT / height + 1) & ~1;
        height = MIN_HEIGHT;
    }
    struct scaler *scaler = scaler_new();
    struct picture *copy = picture_new(width, height);
    int err = ERR_NO_MEMORY;
    if (scaler && copy) {
        fprintf(out, CLIP_HEADER, width, height, source->fps.num, source->fps.den);
        err = write_frames(source, frames, scaler, copy, out);
        if (!err && fflush(out) != 0)
            err = ERR_IO;
    }
    if (err)
        log_error("%s: cannot write the clip: %s", source->name,
                  err == ERR_IO ? strerror(errno) : "out of memory");
    picture_unref(copy);
    scaler_free(scaler);
    return err;
}
