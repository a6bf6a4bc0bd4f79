// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/deinterlacer.h"

#include <dlfcn.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"

// Of libavfilter, which is never unloaded. It depends on some thirty other libraries.
static struct {
    AVFilterGraph *(*graph_alloc)(void);
    void (*graph_free)(AVFilterGraph **);
    int (*graph_config)(AVFilterGraph *, void *);
    const AVFilter *(*by_name)(const char *);
    int (*create)(AVFilterContext **, const AVFilter *, const char *, const char *, void *,
                  AVFilterGraph *);
    int (*link)(AVFilterContext *, unsigned, AVFilterContext *, unsigned);
    int (*put)(AVFilterContext *, AVFrame *);
    int (*take)(AVFilterContext *, AVFrame *);
    AVRational (*time_base)(const AVFilterContext *);
} av;
static bool loaded;

static void load(void)
{
    const struct {
        const char *name;
        void *to;
    } functions[] = {
        {"avfilter_graph_alloc", &av.graph_alloc},     {"avfilter_graph_free", &av.graph_free},
        {"avfilter_graph_config", &av.graph_config},   {"avfilter_get_by_name", &av.by_name},
        {"avfilter_graph_create_filter", &av.create},  {"avfilter_link", &av.link},
        {"av_buffersrc_add_frame", &av.put},           {"av_buffersink_get_frame", &av.take},
        {"av_buffersink_get_time_base", &av.time_base}};
    void *library =
        dlopen("libavfilter.so." AV_STRINGIFY(LIBAVFILTER_VERSION_MAJOR), RTLD_NOW | RTLD_LOCAL);
    loaded = library;
    for (size_t i = 0; loaded && i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *function = dlsym(library, functions[i].name);
        loaded = function;
        memcpy(functions[i].to, &function, sizeof(function));
    }
    if (!loaded)
        log_warn(
            "interlaced pictures require libavfilter (Debian: install libavfilter" AV_STRINGIFY(
                LIBAVFILTER_VERSION_MAJOR) "): %s",
            dlerror());
}

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
    d->graph = av.graph_alloc();
    if (!d->graph)
        return AVERROR(ENOMEM);
    d->graph->nb_threads = 1; // the caller's
    snprintf(args, sizeof(args), "video_size=%dx%d:pix_fmt=%d:time_base=%d/%d:pixel_aspect=1/1",
             like->width, like->height, like->format, d->time_base.num, d->time_base.den);
    int err = av.create(&d->from, av.by_name("buffer"), NULL, args, NULL, d->graph);
    if (err >= 0)
        err = av.create(&bwdif, av.by_name("bwdif"), NULL, "mode=send_frame:deint=interlaced", NULL,
                        d->graph);
    if (err >= 0)
        err = av.create(&d->to, av.by_name("buffersink"), NULL, NULL, NULL, d->graph);
    if (err >= 0)
        err = av.link(d->from, 0, bwdif, 0);
    if (err >= 0)
        err = av.link(bwdif, 0, d->to, 0);
    return err >= 0 ? av.graph_config(d->graph, NULL) : err;
}

struct deinterlacer *deinterlacer_new(const AVFrame *like, AVRational time_base)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    struct deinterlacer *d = loaded ? calloc(1, sizeof(*d)) : NULL;
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
    av.graph_free(&d->graph);
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
    int err = av.put(d->from, frame);
    if (frame)
        av_frame_unref(frame);
    return err;
}

int deinterlacer_take(struct deinterlacer *d, AVFrame *out)
{
    int err = av.take(d->to, out);
    if (err >= 0 && out->pts != AV_NOPTS_VALUE) // bwdif counts in half units
        out->pts = av_rescale_q(out->pts, av.time_base(d->to), d->time_base);
    return err < 0 ? err : 0;
}
