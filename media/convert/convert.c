// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/convert/convert.h"

#include <libavutil/frame.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/pixfmt.h>
#include <libswscale/swscale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/picture/colour_map.h"
#include "media/picture/recolour.h"

static void log_libav(void *context, int level, const char *format, va_list args)
{
    if (level > AV_LOG_WARNING)
        return;
    char text[512];
    int prefix = 1; // libav's own "[name @ address]"
    av_log_format_line2(context, level, format, args, text, sizeof(text), &prefix);
    text[strcspn(text, "\n")] = '\0';
    log_debug("%s", text);
}

static void set_callback(void)
{
    av_log_set_callback(log_libav);
}

void libav_log_to_log(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_callback);
}

struct image image_of_picture(const struct picture *p)
{
    struct image i = {.width = p->width,
                      .height = p->height,
                      .format = AV_PIX_FMT_YUV420P,
                      .matrix = SWS_CS_ITU709};
    for (int plane = 0; plane < 3; plane++) {
        i.plane[plane] = p->plane[plane];
        i.stride[plane] = p->stride[plane];
    }
    return i;
}

static int matrix_of(const AVFrame *f)
{
    switch (f->colorspace) {
    case AVCOL_SPC_BT709:
        return SWS_CS_ITU709;
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M:
        return SWS_CS_ITU601;
    case AVCOL_SPC_FCC:
        return SWS_CS_FCC;
    case AVCOL_SPC_SMPTE240M:
        return SWS_CS_SMPTE240M;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
        return SWS_CS_BT2020;
    default: // the convention for files that do not specify a matrix
        return f->height >= 720 ? SWS_CS_ITU709 : SWS_CS_ITU601;
    }
}

struct image image_of_frame(const AVFrame *f)
{
    struct image i = {.width = f->width & ~1,
                      .height = f->height & ~1,
                      .format = f->format,
                      .matrix = matrix_of(f),
                      .full_range = f->color_range == AVCOL_RANGE_JPEG};
    static const int full[][2] = {{AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUV420P},
                                  {AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUV422P},
                                  {AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUV444P},
                                  {AV_PIX_FMT_YUVJ440P, AV_PIX_FMT_YUV440P}};
    for (size_t k = 0; k < sizeof(full) / sizeof(full[0]); k++) {
        if (f->format == full[k][0]) {
            i.format = full[k][1];
            // libavcodec's H.264 decoder keeps the format if a new SPS changes the range only.
            i.full_range = f->color_range != AVCOL_RANGE_MPEG;
        }
    }
    struct colour_source source;
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(i.format);
    bool rgb = d && d->flags & AV_PIX_FMT_FLAG_RGB;
    i.colours =
        (struct colours){f->colorspace, f->color_primaries, f->color_trc, i.full_range && !rgb};
    i.is_mapped = colours_source(&i.colours, rgb, &source);
    for (int k = 0; k < 4; k++) {
        i.plane[k] = f->data[k];
        i.stride[k] = f->linesize[k];
    }
    return i;
}

void converter_destroy(struct converter *c)
{
    sws_freeContext(c->sws);
    colour_map_free(c->map);
    free(c->mid);
    *c = (struct converter){0};
}

// sws_init_context decides by the ranges whether planes of equal size and format are only copied.
// sws_getContext would leave them equal, and sws_setColorspaceDetails does not revise the decision.
static struct SwsContext *make_context(const struct image *from, const struct image *to, int flags)
{
    const struct {
        const char *name;
        int value;
    } options[] = {
        {"sws_flags", flags},
        {"srcw", from->width},
        {"srch", from->height},
        {"src_format", from->format},
        {"src_range", from->full_range},
        {"dstw", to->width},
        {"dsth", to->height},
        {"dst_format", to->format},
        {"dst_range", to->full_range},
    };
    struct SwsContext *c = sws_alloc_context();
    bool good = c;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        good = good && av_opt_set_int(c, options[i].name, options[i].value, 0) == 0;
    if (good && sws_init_context(c, NULL, NULL) >= 0)
        return c;
    sws_freeContext(c);
    return NULL;
}

static int prepare(struct converter *c, const struct image *from, const struct image *to)
{
    const int key[10] = {from->width, from->height, from->format, from->matrix, from->full_range,
                         to->width,   to->height,   to->format,   to->matrix,   to->full_range};
    if (c->sws && memcmp(key, c->key, sizeof(key)) == 0)
        return 0;
    sws_freeContext(c->sws);
    c->sws = NULL;
    bool enlarges = to->width > from->width || to->height > from->height;
    bool same = to->width == from->width && to->height == from->height;
    int flags = SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INT;
    flags |= enlarges || same ? SWS_BICUBIC : SWS_AREA;
    libav_log_to_log();
    c->sws = make_context(from, to, flags);
    if (!c->sws) {
        log_error("cannot convert %dx%d (pixel format %d) to %dx%d", from->width, from->height,
                  from->format, to->width, to->height);
        return ERR_UNSUPPORTED;
    }
    // The call fails for formats without a matrix, such as grey, which need none: ignore its
    // result.
    sws_setColorspaceDetails(c->sws, sws_getCoefficients(from->matrix), from->full_range,
                             sws_getCoefficients(to->matrix), to->full_range, 0, 1 << 16, 1 << 16);
    memcpy(c->key, key, sizeof(key));
    return 0;
}

// libswscale states a matrix by its term of red, 2 (1 - Kr) 255 / 224, and that of blue, times
// 2^16.
static struct colour_space space_of(const struct image *i)
{
    const int *terms = sws_getCoefficients(i->matrix);
    double unit = 2.0 * 65536 * 255 / 224;
    return (struct colour_space){1 - terms[0] / unit, 1 - terms[1] / unit, i->full_range};
}

static bool differs_in_colours_only(const struct image *a, const struct image *b)
{
    return a->width == b->width && a->height == b->height && a->format == AV_PIX_FMT_YUV420P &&
           b->format == AV_PIX_FMT_YUV420P &&
           (a->matrix != b->matrix || a->full_range != b->full_range);
}

static void run_recolour(const struct image *from, const struct image *to)
{
    struct colour_space space = space_of(from), to_space = space_of(to);
    struct recolour_planes planes, to_planes;
    for (int i = 0; i < 3; i++) {
        planes.plane[i] = from->plane[i];
        planes.stride[i] = from->stride[i];
        to_planes.plane[i] = to->plane[i];
        to_planes.stride[i] = to->stride[i];
    }
    struct recolour terms;
    recolour_init(&terms, &space, &to_space);
    recolour_run(&terms, &planes, &to_planes, from->width, from->height);
}

static int run_sws(struct converter *c, const struct image *from, const struct image *to)
{
    int r = prepare(c, from, to);
    if (r < 0)
        return r;
    const uint8_t *planes[4] = {from->plane[0], from->plane[1], from->plane[2], from->plane[3]};
    r = sws_scale(c->sws, planes, from->stride, 0, from->height, to->plane, to->stride);
    return r > 0 ? 0 : ERR_NO_MEMORY;
}

static int prepare_map(struct converter *c, const struct image *from)
{
    const struct colours *a = &from->colours, *b = &c->mapped;
    struct colour_source source;
    if (c->map && a->matrix == b->matrix && a->primaries == b->primaries &&
        a->transfer == b->transfer && a->full_range == b->full_range)
        return 0;
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(from->format);
    (void)colours_source(a, d && d->flags & AV_PIX_FMT_FLAG_RGB, &source);
    if (source.matrix == MATRIX_WEIGHTS && a->matrix == AVCOL_SPC_UNSPECIFIED) {
        struct colour_space space = space_of(from);
        source.kr = space.kr;
        source.kb = space.kb;
    }
    colour_map_free(c->map);
    c->map = colour_map_new(&source);
    c->mapped = *a;
    return c->map ? 0 : ERR_NO_MEMORY;
}

// libswscale makes 10 bits of the final size, in the picture's own matrix and range. The map makes
// the picture.
static int run_mapped(struct converter *c, const struct image *from, const struct image *to)
{
    struct image mid = {.width = to->width,
                        .height = to->height,
                        .format = AV_PIX_FMT_YUV420P10,
                        .matrix = from->matrix,
                        .full_range = from->colours.full_range};
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(from->format);
    if (d && d->flags & AV_PIX_FMT_FLAG_RGB)
        mid.matrix = SWS_CS_ITU709;
    int err = to->format == AV_PIX_FMT_YUV420P ? prepare_map(c, from) : ERR_UNSUPPORTED;
    if (err)
        return err;
    bool direct = from->format == mid.format && from->width == mid.width &&
                  from->height == mid.height && !((from->stride[0] | from->stride[1]) & 1);
    if (!direct) {
        size_t luma = (size_t)to->width * (size_t)to->height * 2, bytes = luma + luma / 2 + 64;
        if (bytes > c->mid_bytes) {
            free(c->mid);
            c->mid = malloc(bytes);
            c->mid_bytes = c->mid ? bytes : 0;
        }
        if (!c->mid)
            return ERR_NO_MEMORY;
        mid.plane[0] = c->mid;
        mid.plane[1] = mid.plane[0] + luma;
        mid.plane[2] = mid.plane[1] + luma / 4;
        mid.stride[0] = 2 * to->width;
        mid.stride[1] = mid.stride[2] = to->width;
        err = run_sws(c, from, &mid);
        if (err)
            return err;
    }
    const struct image *ten = direct ? from : &mid;
    struct colour_planes16 planes;
    struct recolour_planes out;
    for (int i = 0; i < 3; i++) {
        planes.plane[i] = (const uint16_t *)(const void *)ten->plane[i];
        planes.stride[i] = ten->stride[i] / 2;
        out.plane[i] = to->plane[i];
        out.stride[i] = to->stride[i];
    }
    colours_run(c->map, &planes, &out, to->width, to->height);
    return 0;
}

int converter_run(struct converter *c, const struct image *from, const struct image *to)
{
    if (from->is_mapped)
        return run_mapped(c, from, to);
    if (differs_in_colours_only(from, to)) {
        run_recolour(from, to);
        return 0;
    }
    return run_sws(c, from, to);
}
