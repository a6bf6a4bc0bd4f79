// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/stored_x265.h"

#include <assert.h>
#include <libavcodec/avcodec.h>
#include <libavutil/opt.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/convert/convert.h"
#include "media/rtp/annexb.h"
#include "media/rtp/hevc_payload.h"

enum { START_CODE = 4 };
#define QUANTISERS 51 // in which libavcodec counts an offset

struct run {
    const struct stored_x265 *e;
    const struct stored_rate *rate;
    struct coded_frame **out;
    AVCodecContext *codec; // owned
    AVFrame *frame;        // owned, empty between calls
    AVPacket *packet;      // owned, empty between calls
    int slot;              // of the next frame that x265 outputs
};

bool stored_x265_is_usable(void)
{
    return avcodec_find_encoder_by_name("libx265") != NULL;
}

static int open_codec(struct run *r)
{
    const struct stored_x265 *e = r->e;
    const struct size_spec *size = &e->ladder->sizes[e->size_id];
    const AVCodec *codec = avcodec_find_encoder_by_name("libx265");
    AVCodecContext *c = r->codec = codec ? avcodec_alloc_context3(codec) : NULL;
    char params[320];
    if (!c)
        return ERR_IO;
    c->width = size->width;
    c->height = size->height;
    c->pix_fmt = AV_PIX_FMT_YUV420P;
    c->framerate = (AVRational){size->fps.num, size->fps.den};
    c->time_base = (AVRational){size->fps.den, size->fps.num};
    c->sample_aspect_ratio = (AVRational){1, 1};
    c->color_range = AVCOL_RANGE_MPEG;
    c->color_primaries = AVCOL_PRI_BT709;
    c->color_trc = AVCOL_TRC_BT709;
    c->colorspace = AVCOL_SPC_BT709;
    c->thread_count = 1; // each group has a thread of its own already
    // The caller sets each frame's type. The frames are small in number and wait for no one:
    // without wavefronts, which cost bits, and without threads that a group's own thread would
    // compete with.
    int quant = (int)(stored_rate_quant(r->rate, 0) * 100);
    snprintf(params, sizeof(params),
             "psy-rd=1:pools=none:frame-threads=1:wpp=0:log-level=error:info=0:repeat-headers=1:"
             "bframes=%d:b-adapt=0:b-pyramid=0:temporal-layers=%d:scenecut=0:open-gop=0:"
             "keyint=%d:min-keyint=%d:rc-lookahead=20:crf=%d.%02d",
             size->layers - 1, size->layers > 1, e->plan->gop, e->plan->gop, quant / 100,
             quant % 100);
    if (av_opt_set(c->priv_data, "preset", "medium", 0) < 0 ||
        av_opt_set(c->priv_data, "forced-idr", "1", 0) < 0 ||
        av_opt_set(c->priv_data, "x265-params", params, 0) < 0)
        return ERR_IO;
    return avcodec_open2(c, codec, NULL) < 0 ? ERR_IO : 0;
}

// Returns the type of a frame. A B frame depends on a frame that is shown after it.
static enum AVPictureType type_of(const struct stored_x265 *e, int at)
{
    int depends = e->shape->places[e->size_id][at].depends;
    return depends < 0 ? AV_PICTURE_TYPE_I : depends > at ? AV_PICTURE_TYPE_B : AV_PICTURE_TYPE_P;
}

// Asks for another quantiser in the whole picture.
static int set_offset(AVFrame *f, double offset)
{
    AVFrameSideData *side =
        av_frame_new_side_data(f, AV_FRAME_DATA_REGIONS_OF_INTEREST, sizeof(AVRegionOfInterest));
    if (!side)
        return ERR_NO_MEMORY;
    *(AVRegionOfInterest *)(void *)side->data =
        (AVRegionOfInterest){.self_size = sizeof(AVRegionOfInterest),
                             .bottom = f->height,
                             .right = f->width,
                             .qoffset = {(int)(offset * 100), 100 * QUANTISERS}};
    return 0;
}

static int fill(struct run *r, const struct picture *p, int at)
{
    const struct stored_x265 *e = r->e;
    AVFrame *f = r->frame;
    f->format = AV_PIX_FMT_YUV420P;
    f->width = p->width;
    f->height = p->height;
    f->pts = at;
    f->pict_type = type_of(e, at);
    if (av_frame_get_buffer(f, 0) < 0)
        return ERR_NO_MEMORY;
    for (int i = 0; i < 3; i++)
        for (int y = 0; y < (i ? p->height / 2 : p->height); y++)
            memcpy(f->data[i] + (ptrdiff_t)y * f->linesize[i],
                   p->plane[i] + (ptrdiff_t)y * p->stride[i],
                   (size_t)(i ? p->width / 2 : p->width));
    double quant = stored_rate_quant(r->rate, e->shape->places[e->size_id][at].temporal_id);
    double offset = quant - stored_rate_quant(r->rate, 0);
    return offset > 0.01 || offset < -0.01 ? set_offset(f, offset) : 0;
}

// Returns true if the slice's NAL unit has the type that the plan requires of the frame.
static bool is_of_type(const struct stored_x265 *e, int at, uint8_t first_byte)
{
    enum hevc_nal_type type = hevc_nal_type_of(first_byte);
    bool idr = type == HEVC_IDR_W_RADL || type == HEVC_IDR_N_LP;
    bool unused = type <= HEVC_LAST_NON_REFERENCE && type % 2 == 0;
    switch (type_of(e, at)) {
    case AV_PICTURE_TYPE_I:
        return idr;
    case AV_PICTURE_TYPE_B:
        return unused;
    default:
        return !idr;
    }
}

// Makes a coded frame of the packet. Returns 0, ERR_NO_MEMORY or ERR_IO.
static int make_frame(const struct run *r, int at, struct coded_frame **out)
{
    struct nal units[CODED_FRAME_MAX_NALS];
    const uint8_t *data = r->packet->data;
    int count = annexb_split(data, (size_t)r->packet->size, units, CODED_FRAME_MAX_NALS);
    if (count <= 0)
        return ERR_IO;
    struct coded_frame *f = coded_frame_new((size_t)r->packet->size + (size_t)count * START_CODE);
    if (!f)
        return ERR_NO_MEMORY;
    size_t used = 0;
    bool good = false;
    for (int i = 0; i < count; i++) {
        const uint8_t *unit = data + units[i].offset;
        enum hevc_nal_type type = hevc_nal_type_of(unit[0]);
        if (type > HEVC_PPS) // delimiters and SEI: no receiver needs them
            continue;
        if (type <= HEVC_LAST_SLICE)
            good = is_of_type(r->e, at, unit[0]);
        memcpy(f->data + used, (const uint8_t[]){0, 0, 0, 1}, START_CODE);
        memcpy(f->data + used + START_CODE, unit, units[i].len);
        f->nals[f->nal_count++] = (struct nal){(uint32_t)(used + START_CODE), units[i].len};
        used += START_CODE + units[i].len;
    }
    f->bytes = used;
    f->key = type_of(r->e, at) == AV_PICTURE_TYPE_I;
    f->temporal_id = r->e->shape->places[r->e->size_id][at].temporal_id;
    if (good) {
        *out = f;
        return 0;
    }
    coded_frame_unref(f);
    return ERR_IO;
}

// Takes the frame that x265 outputs: the next one in the plan's decoding order.
static int take(struct run *r)
{
    const struct stored_shape *shape = r->e->shape;
    const int16_t *decoded = shape->decoded[r->e->size_id];
    while (r->slot < shape->frames && decoded[r->slot] == STORED_NO_FRAME)
        r->slot++;
    int at = r->slot < shape->frames ? decoded[r->slot++] : -1;
    int err = at < 0 || r->packet->pts != at ? ERR_IO : make_frame(r, at, &r->out[at]);
    if (err == ERR_IO)
        log_error("x265 did not encode frame %d of a group as requested", (int)r->packet->pts);
    av_packet_unref(r->packet);
    return err;
}

// Sends r->frame to x265, or flushes it if `f` is NULL, and takes all frames that it has.
static int feed(struct run *r, AVFrame *f)
{
    int got = avcodec_send_frame(r->codec, f), err = 0;
    while (got >= 0 && !err && (got = avcodec_receive_packet(r->codec, r->packet)) >= 0)
        err = take(r);
    if (err || got == AVERROR(EAGAIN) || got == AVERROR_EOF)
        return err;
    log_error("x265 failed to encode a frame (%s)", av_err2str(got));
    return ERR_IO;
}

static int feed_all(struct run *r, struct picture *const pictures[])
{
    const struct stored_shape *shape = r->e->shape;
    int err = 0;
    for (int at = 0; at < shape->frames && !err; at++) {
        if (shape->places[r->e->size_id][at].depends == STORED_NO_FRAME)
            continue;
        err = fill(r, pictures[at], at);
        err = err ? err : feed(r, r->frame);
        av_frame_unref(r->frame);
    }
    err = err ? err : feed(r, NULL);
    for (int at = 0; at < shape->frames && !err; at++)
        if (!r->out[at] && shape->places[r->e->size_id][at].depends != STORED_NO_FRAME) {
            log_error("x265 did not give frame %d of a group", at);
            err = ERR_IO;
        }
    return err;
}

int stored_x265_run(const struct stored_x265 *e, const struct stored_rate *rate,
                    struct picture *const pictures[], struct coded_frame *out[])
{
    const struct size_spec *size = &e->ladder->sizes[e->size_id];
    assert(size->layers <= STORED_X265_LAYERS);
    libav_log_to_log();
    struct run r = {.e = e, .rate = rate, .out = out};
    r.frame = av_frame_alloc();
    r.packet = av_packet_alloc();
    int err = r.frame && r.packet ? open_codec(&r) : ERR_NO_MEMORY;
    if (err == ERR_IO)
        log_error("x265 cannot encode %dx%d", size->width, size->height);
    err = err ? err : feed_all(&r, pictures);
    avcodec_free_context(&r.codec);
    av_frame_free(&r.frame);
    av_packet_free(&r.packet);
    return err;
}
