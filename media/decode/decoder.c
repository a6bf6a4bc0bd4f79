// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/decode/decoder.h"

#include <libavcodec/avcodec.h>
#include <libavutil/log.h>
#include <libswscale/swscale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/convert/convert.h"
#include "media/rtp/h264.h"

enum {
    MAX_PIXELS = 4096 * 2304, // of a picture; the decoder rejects larger ones
    MAX_BYTES = 16 << 20,     // of an access unit
};

struct decoder {
    enum AVCodecID id;
    enum decoder_order order;
    AVCodecContext *codec;     // owned; NULL after a failure, until the next frame
    AVPacket *packet;          // owned, empty between calls
    AVFrame *frame;            // owned, empty between calls
    AVFrame *buffer;           // owned; DECODER_AS_COMES: the buffer that libavcodec decodes into
    uint8_t sps[H264_MAX_SPS]; // H.264: the newest, with the zero bytes after it
    size_t sps_len;
    struct converter converter; // of other formats, matrices and ranges than a picture's
};

// Keeps a reference to each buffer that libavcodec requests. libavcodec outputs pictures in display
// order, delayed until no earlier one can follow: by eight frames if only every fourth frame of a
// stream arrives. A caller that knows the display times need not wait: the picture is complete in
// its buffer as soon as its frame is decoded.
static int get_buffer(AVCodecContext *c, AVFrame *frame, int flags)
{
    struct decoder *d = c->opaque;
    int err = avcodec_default_get_buffer2(c, frame, flags);
    av_frame_unref(d->buffer);
    return err < 0 ? err : av_frame_ref(d->buffer, frame);
}

static AVCodecContext *open_codec(struct decoder *d)
{
    bool reorders = d->order != DECODER_PLAIN;
    const AVCodec *codec = avcodec_find_decoder(d->id);
    AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!c)
        return NULL;
    c->thread_count = 1; // each frame thread would delay the output by one picture
    c->flags |= reorders ? 0 : AV_CODEC_FLAG_LOW_DELAY;
    c->max_pixels = MAX_PIXELS;
    c->log_level_offset = AV_LOG_TRACE; // silence libavcodec: the caller counts broken frames
    // A picture with concealed parts counts as lost: the player keeps showing the previous one.
    c->err_recognition = AV_EF_EXPLODE | AV_EF_BITSTREAM | AV_EF_BUFFER;
    // Without concealment libavcodec does not track slices and rejects an H.264 frame of several,
    // which large sizes and third parties have. is_usable() rejects frames marked as concealed.
    if (d->id != AV_CODEC_ID_H264)
        c->error_concealment = 0;
    c->opaque = d;
    if (d->order == DECODER_AS_COMES)
        c->get_buffer2 = get_buffer;
    if (avcodec_open2(c, codec, NULL) < 0)
        avcodec_free_context(&c);
    return c;
}

static struct decoder *decoder_of(enum AVCodecID id, enum decoder_order order)
{
    libav_log_to_log();
    struct decoder *d = calloc(1, sizeof(*d));
    if (!d)
        goto failed;
    d->id = id;
    d->order = order;
    d->codec = open_codec(d);
    d->packet = av_packet_alloc();
    d->frame = av_frame_alloc();
    d->buffer = av_frame_alloc();
    if (d->codec && d->packet && d->frame && d->buffer)
        return d;

failed:
    log_error("cannot open libavcodec's decoder of %s", avcodec_get_name(id));
    decoder_free(d);
    return NULL;
}

struct decoder *decoder_new(enum decoder_order order)
{
    return decoder_of(AV_CODEC_ID_H264, order);
}

struct decoder *decoder_new_hevc(enum decoder_order order)
{
    return decoder_of(AV_CODEC_ID_HEVC, order);
}

struct decoder *decoder_new_jpeg(void)
{
    return decoder_of(AV_CODEC_ID_MJPEG, DECODER_PLAIN);
}

struct decoder *decoder_new_vp9(void)
{
    return decoder_of(AV_CODEC_ID_VP9, DECODER_PLAIN);
}

void decoder_free(struct decoder *d)
{
    if (!d)
        return;
    avcodec_free_context(&d->codec);
    av_packet_free(&d->packet);
    av_frame_free(&d->frame);
    av_frame_free(&d->buffer);
    converter_destroy(&d->converter);
    free(d);
}

static void free_frame(struct picture *p)
{
    AVFrame *frame = p->owner;
    av_frame_free(&frame);
}

// Wraps a decoded frame as a picture and takes over its reference. The planes belong to libavcodec,
// which may use them as references of later frames: never write to them.
static struct picture *wrap(AVFrame *from, int64_t number)
{
    struct picture *p = calloc(1, sizeof(*p));
    AVFrame *frame = p ? av_frame_alloc() : NULL;
    if (!frame) {
        free(p);
        return NULL;
    }
    av_frame_move_ref(frame, from);
    p->width = frame->width;
    p->height = frame->height;
    for (int i = 0; i < 3; i++) {
        p->plane[i] = frame->data[i];
        p->stride[i] = frame->linesize[i];
    }
    p->number = number;
    p->references = 1;
    p->owner = frame;
    p->free_owner = free_frame;
    return p;
}

static bool is_usable(const AVFrame *f)
{
    return !f->decode_error_flags && !(f->flags & AV_FRAME_FLAG_CORRUPT) && f->width >= 2 &&
           f->height >= 2;
}

// Returns a converted picture of d->frame, of any format, matrix and range; an odd line or column
// is left out. NULL: no memory.
static struct picture *convert(struct decoder *d, int64_t number)
{
    AVFrame *f = d->frame;
    if (d->id == AV_CODEC_ID_MJPEG && f->colorspace == AVCOL_SPC_UNSPECIFIED)
        f->colorspace = AVCOL_SPC_BT470BG; // JFIF has BT.601
    struct picture *p = picture_new(f->width & ~1, f->height & ~1);
    if (!p)
        return NULL;
    struct image from = image_of_frame(f), to = image_of_picture(p);
    p->number = number;
    if (converter_run(&d->converter, &from, &to) == 0)
        return p;
    picture_unref(p);
    return NULL;
}

// Returns a picture of d->frame, which is usable. Weir's own streams have the format, matrix and
// range of pictures and are never copied, but a third party's may have others: more bits, more
// colours, BT.601. NULL: no memory.
static struct picture *picture_of(struct decoder *d, int64_t number)
{
    const AVFrame *f = d->frame;
    struct image i = image_of_frame(f);
    bool fits = (f->format == AV_PIX_FMT_YUV420P || f->format == AV_PIX_FMT_YUVJ420P) &&
                f->width % 2 == 0 && f->height % 2 == 0 && i.matrix == SWS_CS_ITU709 &&
                !i.full_range && d->id != AV_CODEC_ID_MJPEG;
    return fits ? wrap(d->frame, number) : convert(d, number);
}

// Returns the first SPS of an access unit and its length; NULL: it has none before its slices.
static const uint8_t *find_sps(const uint8_t *data, size_t bytes, size_t *len)
{
    const uint8_t *sps = NULL;
    for (size_t i = 0; i + 3 < bytes; i++) {
        if (data[i] || data[i + 1] || data[i + 2] != 1)
            continue;
        *len = sps ? (size_t)(data + i - sps) : 0;
        enum h264_nal_type type = h264_nal_type_of(data[i + 3]);
        if (sps || (type >= H264_SLICE && type <= H264_IDR))
            return sps;
        if (type == H264_SPS)
            sps = data + i + 3;
        i += 3;
    }
    return NULL;
}

// An SPS need not state matrix and range. libavcodec then keeps those of the SPS before, which
// after a change of the level are another encoder's. So each new SPS begins with the standard's
// defaults (ITU-T H.264, E.2.1).
static void forget_colours(struct decoder *d, const uint8_t *data, size_t bytes)
{
    size_t len;
    const uint8_t *sps = d->id == AV_CODEC_ID_H264 ? find_sps(data, bytes, &len) : NULL;
    if (!sps || (len == d->sps_len && memcmp(sps, d->sps, len) == 0))
        return;
    d->sps_len = len < sizeof(d->sps) ? len : 0; // 0: no SPS equals it
    memcpy(d->sps, sps, d->sps_len);
    d->codec->colorspace = AVCOL_SPC_UNSPECIFIED;
    d->codec->color_range = AVCOL_RANGE_MPEG;
}

// Decodes one access unit; the picture is in d->frame. Returns 0 or an AVERROR; AVERROR(EAGAIN) if
// libavcodec gave no picture.
static int run(struct decoder *d, const uint8_t *data, size_t bytes, int64_t number)
{
    forget_colours(d, data, bytes);
    d->packet->pts = d->packet->dts = number;
    d->packet->data = (uint8_t *)(uintptr_t)data; // libavcodec copies data that has no AVBuffer
    d->packet->size = (int)bytes;
    int err = avcodec_send_packet(d->codec, d->packet);
    av_packet_unref(d->packet);
    return err < 0 ? err : avcodec_receive_frame(d->codec, d->frame);
}

// Like run(), but d->frame gets the picture of this access unit, out of its buffer. Discards the
// pictures that libavcodec outputs in display order; they alone are marked as concealed, if they
// are.
static int run_at_once(struct decoder *d, const uint8_t *data, size_t bytes, int64_t number)
{
    av_frame_unref(d->buffer);
    int err = run(d, data, bytes, number);
    bool is_concealed = false;
    while (err == 0) {
        is_concealed |= !is_usable(d->frame);
        err = avcodec_receive_frame(d->codec, d->frame);
    }
    av_frame_unref(d->frame);
    if (err != AVERROR(EAGAIN))
        return err;
    if (!d->buffer->buf[0] || is_concealed)
        return AVERROR_INVALIDDATA;
    av_frame_move_ref(d->frame, d->buffer);
    d->frame->width = d->codec->width; // the buffer's own size is in whole macroblocks
    d->frame->height = d->codec->height;
    return 0;
}

int decoder_decode(struct decoder *d, const uint8_t *data, size_t bytes, int64_t number,
                   struct picture **out)
{
    *out = NULL;
    if (bytes == 0 || bytes > MAX_BYTES)
        return ERR_MALFORMED;
    if (!d->codec)
        d->codec = open_codec(d);
    if (!d->codec)
        return ERR_NO_MEMORY;
    bool as_shown = d->order == DECODER_AS_SHOWN;
    int err = d->order == DECODER_AS_COMES ? run_at_once(d, data, bytes, number)
                                           : run(d, data, bytes, number);
    if (err == AVERROR(EAGAIN) && as_shown)
        return 0;
    if (err == 0 && is_usable(d->frame))
        *out = picture_of(d, as_shown ? d->frame->pts : number);
    bool no_memory = err == AVERROR(ENOMEM) || (err == 0 && is_usable(d->frame) && !*out);
    av_frame_unref(d->frame);
    if (*out)
        return 0;
    // The references of later frames are damaged, so decode nothing before the next key frame.
    // Garbage leaves state in libavcodec that avcodec_flush_buffers does not clear and that can
    // even make it lose that key frame: use a new context.
    avcodec_free_context(&d->codec);
    return no_memory ? ERR_NO_MEMORY : ERR_MALFORMED;
}

struct picture *decoder_more(struct decoder *d)
{
    struct picture *p = NULL;
    if (d->codec && d->order == DECODER_AS_SHOWN &&
        avcodec_receive_frame(d->codec, d->frame) == 0 && is_usable(d->frame))
        p = picture_of(d, d->frame->pts);
    av_frame_unref(d->frame);
    return p;
}
