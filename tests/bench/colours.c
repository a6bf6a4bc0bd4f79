// SPDX-License-Identifier: GPL-2.0-or-later
// The conversion of HDR pictures (media/convert/colours.h): milliseconds of processor time per
// picture, of all its threads together.
//   bench_colours
#include <libavutil/frame.h>
#include <stdio.h>
#include <time.h>

#include "common/base/usec.h"
#include "media/convert/convert.h"

enum { PICTURES = 40 };

static usec_t spent(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * USEC_PER_SEC + t.tv_nsec / 1000;
}

int main(void)
{
    static const int sizes[][2] = {{640, 360}, {1280, 720}, {1920, 1080}, {3840, 2160}};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        AVFrame *f = av_frame_alloc();
        struct picture *p = picture_new(sizes[k][0], sizes[k][1]);
        if (!f || !p)
            return 1;
        f->format = AV_PIX_FMT_YUV420P10;
        f->width = p->width;
        f->height = p->height;
        f->colorspace = AVCOL_SPC_BT2020_NCL;
        f->color_primaries = AVCOL_PRI_BT2020;
        f->color_trc = AVCOL_TRC_SMPTE2084;
        if (av_frame_get_buffer(f, 0) != 0)
            return 1;
        for (int i = 0; i < 3; i++)
            for (int at = 0; at < f->linesize[i] / 2 * (i ? p->height / 2 : p->height); at++)
                ((uint16_t *)(void *)f->data[i])[at] = (uint16_t)(at * 7 % 1024);
        struct converter c = {0};
        struct image from = image_of_frame(f), to = image_of_picture(p);
        usec_t began = spent();
        if (converter_run(&c, &from, &to) != 0)
            return 1;
        usec_t first = spent() - began;
        began = spent();
        for (int i = 0; i < PICTURES; i++)
            (void)converter_run(&c, &from, &to);
        printf("%4dx%-4d  %.1f ms, the first %.1f ms\n", p->width, p->height,
               usec_to_msec(spent() - began) / PICTURES, usec_to_msec(first));
        converter_destroy(&c);
        picture_unref(p);
        av_frame_free(&f);
    }
    return 0;
}
