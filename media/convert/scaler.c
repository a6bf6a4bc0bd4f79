// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "media/convert/convert.h"
#include "media/picture/picture.h"

struct scaler {
    struct converter converter;
};

struct scaler *scaler_new(void)
{
    return calloc(1, sizeof(struct scaler));
}

void scaler_free(struct scaler *s)
{
    if (!s)
        return;
    converter_destroy(&s->converter);
    free(s);
}

int scaler_run(struct scaler *s, const struct picture *from, struct picture *to)
{
    to->number = from->number;
    to->pts = from->pts;
    to->capture_wall = from->capture_wall;
    if (from->width != to->width || from->height != to->height) {
        struct image in = image_of_picture(from), out = image_of_picture(to);
        // libswscale supports scaling within this format, so it can only fail for lack of memory.
        return converter_run(&s->converter, &in, &out) < 0 ? ERR_NO_MEMORY : 0;
    }
    for (int plane = 0; plane < 3; plane++) {
        int width = plane ? to->width / 2 : to->width, height = plane ? to->height / 2 : to->height;
        for (int y = 0; y < height; y++)
            memcpy(to->plane[plane] + (ptrdiff_t)y * to->stride[plane],
                   from->plane[plane] + (ptrdiff_t)y * from->stride[plane], (size_t)width);
    }
    return 0;
}

struct picture *scaler_scaled(struct scaler *s, struct picture *p, int width, int height)
{
    if (p->width == width && p->height == height)
        return picture_ref(p);
    struct picture *copy = picture_new(width, height);
    if (copy && scaler_run(s, p, copy) != 0) {
        picture_unref(copy);
        return NULL;
    }
    return copy;
}
