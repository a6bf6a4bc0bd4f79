// SPDX-License-Identifier: GPL-2.0-or-later
#include <libavcodec/avcodec.h>
#include <libswscale/swscale.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/convert/convert.h"
#include "media/picture/picture.h"

// JFIF pictures are BT.601 in full range, whatever the source is.
static int fill(const struct picture *p, int max_width, AVFrame *to)
{
    to->width = p->width;
    to->height = p->height;
    if (p->width > max_width) {
        to->width = max_width & ~1;
        to->height = (int)((int64_t)p->height * max_width / p->width) & ~1;
        to->height = to->height < 2 ? 2 : to->height;
    }
    to->format = AV_PIX_FMT_YUVJ420P;
    to->color_range = AVCOL_RANGE_JPEG;
    if (av_frame_get_buffer(to, 0) < 0)
        return ERR_NO_MEMORY;
    struct image from = image_of_picture(p);
    struct image image = image_of_frame(to);
    image.matrix = SWS_CS_ITU601;
    struct converter converter = {0};
    int err = converter_run(&converter, &from, &image);
    converter_destroy(&converter);
    return err;
}

// `quality`: 2, the best, to 31.
static int encode(AVFrame *f, int quality, AVPacket *out)
{
    const AVCodec *codec = avcodec_find_encoder(AV_CODEC_ID_MJPEG);
    AVCodecContext *context = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!context)
        return ERR_UNSUPPORTED;
    context->width = f->width;
    context->height = f->height;
    context->pix_fmt = AV_PIX_FMT_YUVJ420P;
    context->color_range = AVCOL_RANGE_JPEG;
    context->time_base = (AVRational){1, 25};
    context->thread_count = 1;
    context->flags |= AV_CODEC_FLAG_QSCALE;
    context->global_quality = FF_QP2LAMBDA * quality;
    f->quality = context->global_quality;
    int err = avcodec_open2(context, codec, NULL);
    if (err >= 0)
        err = avcodec_send_frame(context, f);
    if (err >= 0)
        err = avcodec_receive_packet(context, out);
    avcodec_free_context(&context);
    return err < 0 ? ERR_UNSUPPORTED : 0;
}

int picture_jpeg(const struct picture *p, int max_width, size_t max_bytes, uint8_t **out,
                 size_t *bytes)
{
    static const int qualities[] = {4, 8, 16, 31};
    libav_log_to_log();
    *out = NULL;
    AVFrame *f = av_frame_alloc();
    AVPacket *packet = av_packet_alloc();
    int err = f && packet ? fill(p, max_width, f) : ERR_NO_MEMORY;
    for (size_t i = 0; i < sizeof(qualities) / sizeof(*qualities) && !err; i++) {
        av_packet_unref(packet);
        err = encode(f, qualities[i], packet);
        if (!err && (size_t)packet->size <= max_bytes)
            break;
    }
    if (!err && (size_t)packet->size > max_bytes)
        err = ERR_TOO_BIG;
    if (!err && !(*out = malloc((size_t)packet->size)))
        err = ERR_NO_MEMORY;
    if (!err) {
        *bytes = (size_t)packet->size;
        memcpy(*out, packet->data, *bytes);
    }
    av_packet_free(&packet);
    av_frame_free(&f);
    if (err)
        log_error("JPEG encoding failed (%s)", err_text(err));
    return err;
}
