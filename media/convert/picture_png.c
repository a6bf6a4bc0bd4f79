// SPDX-License-Identifier: GPL-2.0-or-later
#include <libavcodec/avcodec.h>
#include <libswscale/swscale.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/program/whole_file.h"
#include "media/convert/convert.h"
#include "media/picture/picture.h"

static int fill_rgb(const struct picture *p, AVFrame *rgb)
{
    rgb->width = p->width;
    rgb->height = p->height;
    rgb->format = AV_PIX_FMT_RGB24;
    if (av_frame_get_buffer(rgb, 0) < 0)
        return ERR_NO_MEMORY;
    struct image from = image_of_picture(p);
    struct image to = {.plane = {rgb->data[0]},
                       .stride = {rgb->linesize[0]},
                       .width = p->width,
                       .height = p->height,
                       .format = AV_PIX_FMT_RGB24,
                       .matrix = SWS_CS_ITU709,
                       .full_range = true};
    struct converter converter = {0};
    int r = converter_run(&converter, &from, &to);
    converter_destroy(&converter);
    return r;
}

static int encode(const AVFrame *rgb, AVPacket *packet)
{
    const AVCodec *codec = avcodec_find_encoder(AV_CODEC_ID_PNG);
    AVCodecContext *context = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!context)
        return ERR_UNSUPPORTED;
    context->width = rgb->width;
    context->height = rgb->height;
    context->pix_fmt = AV_PIX_FMT_RGB24;
    context->time_base = (AVRational){1, 1};
    context->thread_count = 1;
    int r = avcodec_open2(context, codec, NULL);
    if (r >= 0)
        r = avcodec_send_frame(context, rgb);
    if (r >= 0)
        r = avcodec_receive_packet(context, packet);
    avcodec_free_context(&context);
    return r < 0 ? ERR_UNSUPPORTED : 0;
}

int picture_write_png(const struct picture *p, const char *path)
{
    libav_log_to_log();
    AVFrame *rgb = av_frame_alloc();
    AVPacket *packet = av_packet_alloc();
    int r = rgb && packet ? fill_rgb(p, rgb) : ERR_NO_MEMORY;
    if (r == 0)
        r = encode(rgb, packet);
    if (r < 0)
        log_error("cannot write %s: PNG encoding failed (%s)", path, err_text(r));
    else
        r = whole_file_write(path, packet->data, (size_t)packet->size);
    av_packet_free(&packet);
    av_frame_free(&rgb);
    return r < 0 ? ERR_IO : 0;
}
