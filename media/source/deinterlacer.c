// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/deinterlacer.h"

#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <stdio.h>
#include <stdlib.h>

struct deinterlacer {
    AVFilterGraph *graph;  // owned
    AVFilterContext *from; // these are the graph's
    AVFilterContext *to;
    AVRational time_base;
    int width, height, format;
    bool ended;
};

static int build(struct deinterlacer *d, const AVFrame *like)
{
    char args[128];
    AVFilterContext *bwdif;
    d->graph = avfilter_graph_alloc();
    if (!d->graph)
        return AVERROR(ENOMEM);
    d->graph->nb_threads = 1; // the caller's
    snprintf(args, sizeof(args), "video_size=%dx%d:pix_fmt=%d:time_base=%d/%d:pixel_aspect=1/1",
             like->width, like->height, like->format, d->time_base.num, d->time_base.den);
    int err = avfilter_graph_create_filter(&d->from, avfilter_get_by_name("buffer"), NULL, args,
                                           NULL, d->graph);
    if (err >= 0)
        err = avfilter_graph_create_filter(&bwdif, avfilter_get_by_name("bwdif"), NULL,
                                           "mode=send_frame:deint=interlaced", NULL, d->graph);
    if (err >= 0)
        err = avfilter_graph_create_filter(&d->to, avfilter_get_by_name("buffersink"), NULL, NULL,
                                           NULL, d->graph);
    if (err >= 0)
        err = avfilter_link(d->from, 0, bwdif, 0);
    if (err >= 0)
        err = avfilter_link(bwdif, 0, d->to, 0);
    return err >= 0 ? avfilter_graph_config(d->graph, NULL) : err;
}

struct deinterlacer *deinterlacer_new(const AVFrame *like, AVRational time_base)
{
    struct deinterlacer *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->time_base = time_base;
    d->width = like->width;
    d->height = like->height;
    d->format = like->format;
    if (build(d, like) >= 0)
        return d;
    deinterlacer_free(d);
    return NULL;
}

void deinterlacer_free(struct deinterlacer *d)
{
    if (!d)
        return;
    avfilter_graph_free(&d->graph);
    free(d);
}

bool deinterlacer_fits(const struct deinterlacer *d, const AVFrame *frame)
{
    return frame->width == d->width && frame->height == d->height && frame->format == d->format;
}

int deinterlacer_put(struct deinterlacer *d, AVFrame *frame)
{
    if (!frame && d->ended)
        return 0;
    d->ended |= !frame;
    int err = av_buffersrc_add_frame(d->from, frame);
    if (frame)
        av_frame_unref(frame);
    return err;
}

int deinterlacer_take(struct deinterlacer *d, AVFrame *out)
{
    int err = av_buffersink_get_frame(d->to, out);
    if (err >= 0 && out->pts != AV_NOPTS_VALUE) // bwdif counts in half units
        out->pts = av_rescale_q(out->pts, av_buffersink_get_time_base(d->to), d->time_base);
    return err < 0 ? err : 0;
}
