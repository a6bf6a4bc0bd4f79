// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/encode/avcodec_encoder.h"

#include <assert.h>
#include <libavcodec/avcodec.h>
#include <libavutil/base64.h>
#include <libavutil/hwcontext.h>
#include <libavutil/opt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/coded/encode_limit.h"
#include "media/convert/convert.h"
#include "media/rtp/annexb.h"
#include "media/rtp/h264.h"

enum {
    KEY_INTERVAL = 10,   // max. seconds between key frames, while viewers need them
    MAX_DELAY = 8,       // pictures that the encoder may hold
    MAX_SETS = 2048,     // bytes
    GOP = 30000,         // frames; 16 bits: no key frame comes by itself
    BUFFER_PERCENT = 30, // of a second: the rate control's buffer
    DEVICE_PICTURES = 8, // in a device's pool
    GREY = 128,
    START_CODE = 4,
};

struct waiting { // a picture within the encoder
    int64_t stamp;
    int64_t number;
    usec_t pts;
    usec_t capture_wall;
};

struct avcodec_encoder {
    struct video_encoder base; // first
    const struct avcodec_engine *engine;
    struct size_spec size;
    struct fps source_fps;
    int size_id;
    int bitrate_bps;
    AVBufferRef *device;    // owned; NULL: none
    AVCodecContext *codec;  // owned; NULL: is opened at the next picture
    AVPacket *packet;       // owned, empty between calls
    AVFrame *frame;         // owned
    uint8_t sets[MAX_SETS]; // the parameter sets, each after a start code
    size_t sets_len;
    bool key_wanted;
    bool is_keyed;       // a key frame is made every KEY_INTERVAL at least
    int64_t stamp;       // of the next picture
    int64_t key_number;  // of the newest key frame; -1: none yet
    int64_t last_number; // of the newest frame; -1: none since the encoder was opened
    struct waiting waiting[MAX_DELAY];
    int waiting_count;
    bool fails; // the last picture was not encoded; logged
};

static struct avcodec_encoder *of(struct video_encoder *e)
{
    return (struct avcodec_encoder *)e;
}

__attribute__((format(printf, 2, 3))) static int fail(char reason[AVCODEC_REASON_TEXT],
                                                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reason, AVCODEC_REASON_TEXT, format, args);
    va_end(args);
    return ERR_IO;
}

// ---- Opening

static int open_device(struct avcodec_encoder *e, char reason[AVCODEC_REASON_TEXT])
{
    if (e->engine->device == AVCODEC_OWN)
        return 0;
    int err = av_hwdevice_ctx_create(&e->device, AV_HWDEVICE_TYPE_VAAPI, NULL, NULL, 0);
    return err < 0 ? fail(reason, "no VA-API device can be opened: %s", av_err2str(err)) : 0;
}

// Gives the encoder a pool of the device's pictures.
static int add_pool(struct avcodec_encoder *e, AVCodecContext *c)
{
    AVBufferRef *ref = av_hwframe_ctx_alloc(e->device);
    if (!ref)
        return AVERROR(ENOMEM);
    AVHWFramesContext *pool = (AVHWFramesContext *)ref->data;
    pool->format = AV_PIX_FMT_VAAPI;
    pool->sw_format = AV_PIX_FMT_NV12;
    pool->width = e->size.width;
    pool->height = e->size.height;
    pool->initial_pool_size = DEVICE_PICTURES;
    int err = av_hwframe_ctx_init(ref);
    c->pix_fmt = AV_PIX_FMT_VAAPI;
    c->hw_frames_ctx = err < 0 ? NULL : av_buffer_ref(ref);
    av_buffer_unref(&ref);
    return err < 0 ? err : c->hw_frames_ctx ? 0 : AVERROR(ENOMEM);
}

static void set_rate(struct avcodec_encoder *e)
{
    e->codec->bit_rate = e->codec->rc_max_rate = e->bitrate_bps;
    e->codec->rc_buffer_size = (int)((int64_t)e->bitrate_bps * BUFFER_PERCENT / 100);
}

static void set_format(const struct avcodec_encoder *e, AVCodecContext *c)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    c->width = e->size.width;
    c->height = e->size.height;
    c->framerate = (AVRational){e->size.fps.num, e->size.fps.den};
    c->time_base = (AVRational){e->size.fps.den, e->size.fps.num};
    c->pix_fmt = e->engine->is_nv12 ? AV_PIX_FMT_NV12 : AV_PIX_FMT_YUV420P;
    c->sample_aspect_ratio = (AVRational){1, 1};
    c->color_range = AVCOL_RANGE_MPEG;
    c->color_primaries = AVCOL_PRI_BT709;
    c->color_trc = AVCOL_TRC_BT709;
    c->colorspace = AVCOL_SPC_BT709;
    c->gop_size = GOP;
    c->max_b_frames = 0;
    c->thread_count = encode_limit_threads(&e->size, cores < 1 ? 1 : (int)cores);
    c->thread_type = FF_THREAD_SLICE;
}

// Opens libavcodec's encoder at the current bitrate.
static int open_codec(struct avcodec_encoder *e, char reason[AVCODEC_REASON_TEXT])
{
    const AVCodec *codec = avcodec_find_encoder_by_name(e->engine->codec);
    if (!codec)
        return fail(reason, "libavcodec has no encoder %s", e->engine->codec);
    AVDictionary *options = NULL;
    e->codec = avcodec_alloc_context3(codec);
    if (!e->codec || av_dict_parse_string(&options, e->engine->options, "=", ":", 0) < 0) {
        av_dict_free(&options);
        return fail(reason, "out of memory");
    }
    set_format(e, e->codec);
    set_rate(e);
    int err = e->device ? add_pool(e, e->codec) : 0;
    err = err < 0 ? err : avcodec_open2(e->codec, codec, &options);
    for (const AVDictionaryEntry *o = NULL;
         (o = av_dict_get(options, "", o, AV_DICT_IGNORE_SUFFIX));)
        log_debug("%s of this libavcodec has no option %s", e->engine->codec, o->key);
    av_dict_free(&options);
    e->waiting_count = 0;
    e->last_number = -1;
    e->key_wanted = true;
    if (err >= 0)
        return 0;
    avcodec_free_context(&e->codec);
    return fail(reason, "libavcodec cannot open %s for %dx%d: %s", e->engine->codec, e->size.width,
                e->size.height, av_err2str(err));
}

// ---- Pictures in

static void copy_plane(uint8_t *to, int to_stride, const uint8_t *from, int stride, int width,
                       int height)
{
    for (int y = 0; y < height; y++)
        memcpy(to + (ptrdiff_t)y * to_stride, from + (ptrdiff_t)y * stride, (size_t)width);
}

static void interleave(uint8_t *to, int to_stride, const struct picture *p)
{
    for (int y = 0; y < p->height / 2; y++)
        for (int x = 0; x < p->width / 2; x++) {
            to[(ptrdiff_t)y * to_stride + 2 * x] = p->plane[1][(ptrdiff_t)y * p->stride[1] + x];
            to[(ptrdiff_t)y * to_stride + 2 * x + 1] = p->plane[2][(ptrdiff_t)y * p->stride[2] + x];
        }
}

// Fills e->frame. Returns 0 or libav's error.
static int fill(struct avcodec_encoder *e, const struct picture *p)
{
    AVFrame *f = e->frame;
    av_frame_unref(f);
    f->format = e->engine->is_nv12 ? AV_PIX_FMT_NV12 : AV_PIX_FMT_YUV420P;
    f->width = p->width;
    f->height = p->height;
    int err = av_frame_get_buffer(f, 0);
    if (err < 0)
        return err;
    copy_plane(f->data[0], f->linesize[0], p->plane[0], p->stride[0], p->width, p->height);
    if (e->engine->is_nv12)
        interleave(f->data[1], f->linesize[1], p);
    for (int i = 1; i < 3 && !e->engine->is_nv12; i++)
        copy_plane(f->data[i], f->linesize[i], p->plane[i], p->stride[i], p->width / 2,
                   p->height / 2);
    if (!e->device)
        return 0;
    AVFrame *up = av_frame_alloc();
    err = up ? av_hwframe_get_buffer(e->codec->hw_frames_ctx, up, 0) : AVERROR(ENOMEM);
    err = err < 0 ? err : av_hwframe_transfer_data(up, f, 0);
    if (err >= 0) {
        av_frame_unref(f);
        av_frame_move_ref(f, up);
    }
    av_frame_free(&up);
    return err;
}

// Sends a picture to the encoder. Returns 0 or libav's error.
static int send(struct avcodec_encoder *e, const struct picture *p, bool key)
{
    int err = e->waiting_count == MAX_DELAY ? AVERROR(ENOSPC) : fill(e, p);
    if (err < 0)
        return err;
    e->frame->pts = e->stamp;
    e->frame->pict_type = key ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
    err = avcodec_send_frame(e->codec, e->frame);
    av_frame_unref(e->frame);
    if (err < 0)
        return err;
    e->waiting[e->waiting_count++] = (struct waiting){
        .stamp = e->stamp++, .number = p->number, .pts = p->pts, .capture_wall = p->capture_wall};
    return 0;
}

// ---- Frames out

static bool is_set(uint8_t first_byte)
{
    enum h264_nal_type type = h264_nal_type_of(first_byte);
    return type == H264_SPS || type == H264_PPS;
}

// Returns true for slices and their data partitions, the NAL units that the frame's picture is in.
static bool is_picture(uint8_t first_byte)
{
    enum h264_nal_type type = h264_nal_type_of(first_byte);
    return type >= H264_SLICE && type <= H264_IDR;
}

// Appends a unit after a start code. Returns its length with the start code; 0: there is no room.
static size_t put_unit(uint8_t *out, size_t cap, const uint8_t *unit, size_t len)
{
    static const uint8_t start_code[START_CODE] = {0, 0, 0, 1};
    if (cap < START_CODE + len)
        return 0;
    memcpy(out, start_code, START_CODE);
    memcpy(out + START_CODE, unit, len);
    return START_CODE + len;
}

// Keeps the parameter sets among the units. An SPS allows gaps in frame_num (h264.h), as viewers
// lose frames; one that cannot be rewritten stays as it is.
static void learn_sets(struct avcodec_encoder *e, const uint8_t *data, const struct nal *units,
                       int count)
{
    uint8_t sets[MAX_SETS], sps[H264_MAX_SPS * 3 / 2 + 2];
    size_t used = 0;
    bool has_sps = false;
    for (int i = 0; i < count; i++) {
        const uint8_t *unit = data + units[i].offset;
        size_t len = units[i].len;
        if (!is_set(unit[0]))
            continue;
        if (h264_nal_type_of(unit[0]) == H264_SPS) {
            has_sps = true;
            int widened = h264_allow_gaps(unit, len, sps, sizeof(sps));
            unit = widened > 0 ? sps : unit;
            len = widened > 0 ? (size_t)widened : len;
        }
        size_t put = put_unit(sets + used, sizeof(sets) - used, unit, len);
        if (!put)
            return;
        used += put;
    }
    if (!has_sps)
        return;
    memcpy(e->sets, sets, used);
    e->sets_len = used;
}

static void add_unit(struct coded_frame *f, size_t cap, const uint8_t *unit, size_t len)
{
    size_t put = put_unit(f->data + f->bytes, cap - f->bytes, unit, len);
    assert(put > 0);
    f->nals[f->nal_count++] = (struct nal){(uint32_t)(f->bytes + START_CODE), (uint32_t)len};
    f->bytes += put;
}

// Adds the parameter sets, unless they are too many for a frame.
static int add_sets(const struct avcodec_encoder *e, struct coded_frame *f, size_t cap)
{
    struct nal sets[4];
    int count = annexb_split(e->sets, e->sets_len, sets, 4);
    for (int i = 0; i < count; i++)
        add_unit(f, cap, e->sets + sets[i].offset, sets[i].len);
    return count < 0 ? ERR_IO : 0;
}

// Makes a frame of the packet's slices, after the parameter sets if it is an IDR. Returns 0,
// ERR_NO_MEMORY or ERR_IO.
static int make_frame(struct avcodec_encoder *e, struct coded_frame **out)
{
    struct nal units[CODED_FRAME_MAX_NALS];
    const uint8_t *data = e->packet->data;
    int count = e->packet->size > 0
                    ? annexb_split(data, (size_t)e->packet->size, units, CODED_FRAME_MAX_NALS - 4)
                    : ERR_MALFORMED;
    if (count < 0)
        return ERR_IO;
    learn_sets(e, data, units, count);
    bool key = false;
    size_t cap = MAX_SETS + (size_t)count * START_CODE;
    for (int i = 0; i < count; i++) {
        key = key || h264_nal_type_of(data[units[i].offset]) == H264_IDR;
        cap += units[i].len;
    }
    struct coded_frame *f = coded_frame_new(cap);
    if (!f)
        return ERR_NO_MEMORY;
    f->key = key;
    f->bytes = 0; // grows with each unit
    int err = key ? add_sets(e, f, cap) : 0;
    bool has_picture = false;
    for (int i = 0; i < count && !err; i++) {
        if (!is_picture(data[units[i].offset]))
            continue;
        has_picture = true;
        add_unit(f, cap, data + units[i].offset, units[i].len);
    }
    if (err || !has_picture) {
        coded_frame_unref(f);
        return ERR_IO;
    }
    *out = f;
    return 0;
}

// Finds the picture of the packet and forgets those before it.
static int take_waiting(struct avcodec_encoder *e, struct waiting *out)
{
    for (int i = 0; i < e->waiting_count; i++) {
        if (e->waiting[i].stamp != e->packet->pts)
            continue;
        *out = e->waiting[i];
        e->waiting_count -= i + 1;
        memmove(e->waiting, e->waiting + i + 1, (size_t)e->waiting_count * sizeof(*e->waiting));
        return 0;
    }
    return ERR_IO;
}

// Takes the next frame that the encoder gives, if any. Returns 0, ERR_NO_MEMORY or ERR_IO.
static int receive(struct avcodec_encoder *e, struct coded_frame **out)
{
    int got = avcodec_receive_packet(e->codec, e->packet);
    if (got == AVERROR(EAGAIN))
        return 0;
    struct waiting w;
    struct coded_frame *f = NULL;
    int err = got < 0 ? ERR_IO : make_frame(e, &f);
    err = err ? err : take_waiting(e, &w);
    av_packet_unref(e->packet);
    if (!err && !f->key && e->last_number < 0)
        err = ERR_IO; // nothing to depend on
    if (err) {
        coded_frame_unref(f);
        return err;
    }
    f->number = w.number;
    f->pts = w.pts;
    f->capture_wall = w.capture_wall;
    f->size_id = e->size_id;
    f->depends_on = f->key ? -1 : e->last_number;
    e->last_number = w.number;
    if (f->key) {
        e->key_number = w.number;
        e->key_wanted = false;
    }
    *out = f;
    return 0;
}

// ---- The operations

static bool key_is_due(const struct avcodec_encoder *e, int64_t number)
{
    bool is_late = (number + 1 - e->key_number) * e->source_fps.den >
                   (int64_t)KEY_INTERVAL * e->source_fps.num;
    return e->key_wanted || (e->is_keyed && is_late);
}

// Of failures without a frame between them, the first one is an error.
static void log_failure(struct avcodec_encoder *e, const char *reason)
{
    if (e->fails)
        log_debug("%s", reason);
    else
        log_error("%s", reason);
    e->fails = true;
}

static int encode(struct video_encoder *base, const struct picture *p,
                  struct coded_frame *out[VIDEO_ENCODER_MAX_SIZES])
{
    struct avcodec_encoder *e = of(base);
    assert(p->width == e->size.width && p->height == e->size.height);
    char reason[AVCODEC_REASON_TEXT];
    out[0] = NULL;
    if (!e->codec && open_codec(e, reason) != 0) {
        log_failure(e, reason);
        return ERR_IO;
    }
    int sent = send(e, p, key_is_due(e, p->number));
    int err = sent < 0 ? ERR_IO : receive(e, &out[0]);
    e->fails = e->fails && !out[0];
    if (!err)
        return 0;
    fail(reason, "%s failed to encode frame %lld%s%s", e->engine->codec, (long long)p->number,
         sent < 0 ? ": " : "", sent < 0 ? av_err2str(sent) : "");
    log_failure(e, reason);
    avcodec_free_context(&e->codec); // its state is unknown
    return err;
}

static void start(struct video_encoder *e, int size_id)
{
    (void)size_id;
    of(e)->key_wanted = true;
}

static enum layer_loss loss(const struct video_encoder *base, int size_id, int64_t number)
{
    (void)size_id;
    const struct avcodec_encoder *e = (const struct avcodec_encoder *)base;
    return number < e->key_number ? LAYER_LOSS_HARMLESS : LAYER_LOSS_NEEDS_KEY;
}

static void repair(struct video_encoder *e, int size_id, int64_t number)
{
    if (loss(e, size_id, number) == LAYER_LOSS_NEEDS_KEY)
        of(e)->key_wanted = true;
}

static void set_periodic_keys(struct video_encoder *e, bool periodic)
{
    of(e)->is_keyed = periodic;
}

static void set_bitrate(struct video_encoder *base, int size_id, int bps)
{
    (void)size_id;
    assert(bps > 0);
    struct avcodec_encoder *e = of(base);
    if (bps == e->bitrate_bps)
        return;
    e->bitrate_bps = bps;
    if (base->traits.reconfigure && e->codec)
        set_rate(e);
    else
        avcodec_free_context(&e->codec); // opened anew at the next picture
}

static int parameter_sets(struct video_encoder *base, char *sprop, size_t cap,
                          char profile_level_id[8])
{
    const struct avcodec_encoder *e = of(base);
    struct nal units[4];
    int count = annexb_split(e->sets, e->sets_len, units, 4);
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        const uint8_t *unit = e->sets + units[i].offset;
        size_t comma = used > 0;
        if (used + comma + AV_BASE64_SIZE(units[i].len) > cap)
            return ERR_FULL;
        if (h264_nal_type_of(unit[0]) == H264_SPS && units[i].len >= 4)
            snprintf(profile_level_id, 8, "%02x%02x%02x", unit[1], unit[2], unit[3]);
        if (comma)
            sprop[used++] = ',';
        av_base64_encode(sprop + used, (int)(cap - used), unit, (int)units[i].len);
        used += strlen(sprop + used);
    }
    return count > 0 ? 0 : ERR_FULL;
}

static void free_encoder(struct video_encoder *base)
{
    struct avcodec_encoder *e = of(base);
    avcodec_free_context(&e->codec);
    av_buffer_unref(&e->device);
    av_packet_free(&e->packet);
    av_frame_free(&e->frame);
    free(e);
}

// Encodes grey pictures until a frame comes.
static int try_out(struct avcodec_encoder *e, char reason[AVCODEC_REASON_TEXT])
{
    struct picture *grey = picture_new(e->size.width, e->size.height);
    struct coded_frame *f = NULL;
    if (!grey)
        return fail(reason, "out of memory");
    for (int i = 0; i < 3; i++)
        memset(grey->plane[i], GREY,
               (size_t)grey->stride[i] * (size_t)(i ? grey->height / 2 : grey->height));
    int err = 0;
    for (int i = 0; i < MAX_DELAY && !f && !err; i++) {
        grey->number = i;
        int sent = send(e, grey, i == 0);
        err = sent < 0 ? fail(reason, "%s cannot encode %dx%d: %s", e->engine->codec, e->size.width,
                              e->size.height, av_err2str(sent))
                       : receive(e, &f);
        if (err && sent >= 0)
            fail(reason, "%s cannot encode %dx%d", e->engine->codec, e->size.width, e->size.height);
    }
    picture_unref(grey);
    if (!err && (!f || !f->key || !e->sets_len))
        err = fail(reason, "%s gives no key frame for %d pictures", e->engine->codec, MAX_DELAY);
    coded_frame_unref(f);
    // The pictures that it still holds are none of the stream's: it begins again.
    if (!err && e->waiting_count > 0)
        avcodec_free_context(&e->codec);
    e->key_number = e->last_number = -1;
    e->key_wanted = true;
    return err;
}

struct video_encoder *avcodec_encoder_new(const struct avcodec_engine *engine,
                                          const struct encoder_traits *traits,
                                          const struct ladder *ladder, int size_id,
                                          char reason[AVCODEC_REASON_TEXT])
{
    static const struct video_encoder_ops ops = {.encode = encode,
                                                 .start = start,
                                                 .loss = loss,
                                                 .repair = repair,
                                                 .set_periodic_keys = set_periodic_keys,
                                                 .set_bitrate = set_bitrate,
                                                 .parameter_sets = parameter_sets,
                                                 .free = free_encoder};
    const struct size_spec *size = &ladder->sizes[size_id];
    assert(size->layers == 1 && !traits->layers && !traits->invalidate);
    libav_log_to_log();
    struct avcodec_encoder *e = calloc(1, sizeof(*e));
    if (!e) {
        fail(reason, "out of memory");
        return NULL;
    }
    e->base = (struct video_encoder){.ops = &ops,
                                     .traits = *traits,
                                     .first_size = size_id,
                                     .size_count = 1,
                                     .width = size->width,
                                     .height = size->height,
                                     .bitrate_bps = ladder_size_bitrate(ladder, size_id)};
    e->engine = engine;
    e->size = *size;
    e->size_id = size_id;
    e->source_fps = ladder->source_fps;
    e->bitrate_bps = e->base.bitrate_bps;
    e->is_keyed = true;
    e->packet = av_packet_alloc();
    e->frame = av_frame_alloc();
    int err = e->packet && e->frame ? 0 : fail(reason, "out of memory");
    err = err ? err : open_device(e, reason);
    err = err ? err : open_codec(e, reason);
    err = err ? err : try_out(e, reason);
    if (!err)
        return &e->base;
    free_encoder(&e->base);
    return NULL;
}
