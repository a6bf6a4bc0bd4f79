// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/stored_encoder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/encode/x264_stream.h"
#include "media/stored/stored_x265.h"

struct stored_encoder {
    const struct ladder *ladder;
    const struct stored_plan *plan;
    enum sdp_codec codec;
    int size_id;
    float *offsets; // owned: a quantiser offset for each macroblock
    int macroblocks;
};

// One encoding of a group.
struct run {
    const struct stored_encoder *e;
    const struct stored_rate *rate;
    const struct stored_shape *shape;
    struct coded_frame **out;
    const char *preset; // static; of x264
    x264_t *x264;
    struct x264_numbering numbering;
    int slot; // slot of the next frame that x264 outputs
};

static x264_t *open_x264(const struct run *r)
{
    const struct stored_encoder *e = r->e;
    const struct size_spec *size = &e->ladder->sizes[e->size_id];
    x264_param_t p;
    if (x264_param_default_preset(&p, r->preset, NULL) < 0)
        return NULL;
    x264_stream_set(&p, size, e->size_id);
    p.i_bframe = (1 << (size->layers - 1)) - 1;
    p.i_bframe_adaptive = X264_B_ADAPT_NONE; // the caller sets each frame's type
    p.i_bframe_pyramid = size->layers > 2 ? X264_B_PYRAMID_STRICT : X264_B_PYRAMID_NONE;
    p.i_keyint_max = e->plan->gop; // no group is longer; bounds the look-ahead
    p.i_scenecut_threshold = 0;
    p.b_open_gop = 0;
    p.b_stitchable = 1; // all groups have the same parameter sets
    p.rc.i_rc_method = X264_RC_CRF;
    p.rc.f_rf_constant = (float)stored_rate_quant(r->rate, 0);
    return x264_encoder_open(&p);
}

// Returns the x264 type of a frame. A B frame depends on a frame that is shown after it, directly
// or through another B frame.
static int type_of(const struct stored_encoder *e, const struct stored_shape *shape, int at)
{
    const struct stored_place *places = shape->places[e->size_id];
    bool top = places[at].temporal_id == e->ladder->sizes[e->size_id].layers - 1;
    if (places[at].depends < 0)
        return X264_TYPE_IDR;
    for (int on = places[at].depends; on >= 0; on = places[on].depends)
        if (on > at)
            return top ? X264_TYPE_B : X264_TYPE_BREF;
    return X264_TYPE_P;
}

static int take(struct run *r, const x264_nal_t *nals, int count, const x264_picture_t *encoded)
{
    const struct stored_shape *shape = r->shape;
    int size_id = r->e->size_id;
    while (r->slot < shape->frames && shape->decoded[size_id][r->slot] == STORED_NO_FRAME)
        r->slot++;
    int at = r->slot < shape->frames ? shape->decoded[size_id][r->slot++] : -1;
    if (at != encoded->i_pts || at < 0 || encoded->i_type != type_of(r->e, shape, at)) {
        log_error("x264 did not encode frame %d of a group as requested", (int)encoded->i_pts);
        return ERR_IO;
    }
    struct coded_frame *f = x264_stream_frame(nals, count, &r->numbering);
    if (!f)
        return ERR_NO_MEMORY;
    f->key = encoded->i_type == X264_TYPE_IDR;
    f->temporal_id = shape->places[size_id][at].temporal_id;
    r->out[at] = f;
    return 0;
}

// Sends a picture to x264 and takes the frame that it outputs, if any. NULL: flushes x264.
static int feed(struct run *r, x264_picture_t *in)
{
    x264_nal_t *nals;
    int count;
    x264_picture_t encoded;
    int bytes = x264_encoder_encode(r->x264, &nals, &count, in, &encoded);
    if (bytes < 0)
        log_error("x264 failed to encode a frame");
    return bytes < 0 ? ERR_IO : bytes > 0 ? take(r, nals, count, &encoded) : 0;
}

static int feed_all(struct run *r, struct picture *const pictures[])
{
    const struct stored_encoder *e = r->e;
    int err = 0;
    for (int at = 0; at < r->shape->frames && !err; at++) {
        const struct stored_place *place = &r->shape->places[e->size_id][at];
        if (place->depends == STORED_NO_FRAME)
            continue;
        double quant = stored_rate_quant(r->rate, place->temporal_id);
        for (int i = 0; i < e->macroblocks; i++)
            e->offsets[i] = (float)(quant - stored_rate_quant(r->rate, 0));
        x264_picture_t in;
        x264_stream_input(&in, pictures[at]);
        in.i_type = type_of(e, r->shape, at);
        in.i_pts = at;
        in.prop.quant_offsets = e->offsets; // read within the call
        err = feed(r, &in);
    }
    while (!err && x264_encoder_delayed_frames(r->x264) > 0)
        err = feed(r, NULL);
    return err;
}

static void drop(const struct stored_shape *shape, struct coded_frame *out[])
{
    for (int at = 0; at < shape->frames; at++) {
        coded_frame_unref(out[at]);
        out[at] = NULL;
    }
}

static int encode_h264(const struct stored_encoder *e, const struct stored_rate *rate,
                       const char *preset, const struct stored_shape *shape,
                       struct picture *const pictures[], struct coded_frame *out[])
{
    struct run r = {.e = e, .rate = rate, .shape = shape, .out = out, .preset = preset};
    r.x264 = open_x264(&r);
    if (!r.x264) {
        log_error("x264 cannot encode %dx%d", e->ladder->sizes[e->size_id].width,
                  e->ladder->sizes[e->size_id].height);
        return ERR_IO;
    }
    int err = feed_all(&r, pictures);
    x264_encoder_close(r.x264);
    return err;
}

static int encode(const struct stored_encoder *e, const struct stored_rate *rate,
                  const struct stored_shape *shape, struct picture *const pictures[],
                  struct coded_frame *out[])
{
    struct stored_x265 x265 = {e->ladder, e->plan, shape, e->size_id};
    int err = e->codec == SDP_HEVC ? stored_x265_run(&x265, rate, pictures, out)
                                   : encode_h264(e, rate, "medium", shape, pictures, out);
    if (err)
        drop(shape, out);
    return err;
}

int stored_encoder_probe(struct stored_encoder *e, double quant, const struct stored_shape *shape,
                         struct picture *const pictures[], struct coded_frame *out[])
{
    struct stored_rate rate = {.parts = 1, .quant = {quant}};
    assert(e->codec == SDP_H264);
    memset(out, 0, (size_t)shape->frames * sizeof(struct coded_frame *));
    int err = encode_h264(e, &rate, "veryfast", shape, pictures, out);
    if (err)
        drop(shape, out);
    return err;
}

int stored_encoder_run(struct stored_encoder *e, struct stored_rate *rate,
                       const struct stored_shape *shape, struct picture *const pictures[],
                       struct coded_frame *out[])
{
    memset(out, 0, (size_t)shape->frames * sizeof(struct coded_frame *));
    stored_rate_begin(rate, shape->frames / fps_value(e->ladder->source_fps));
    for (;;) {
        int err = encode(e, rate, shape, pictures, out);
        if (err)
            return err;
        double bits[LEVEL_MAX_LAYERS] = {0};
        for (int at = 0; at < shape->frames; at++)
            if (out[at])
                bits[out[at]->temporal_id] += 8.0 * (double)out[at]->bytes;
        if (stored_rate_takes(rate, bits))
            return 0;
        drop(shape, out);
    }
}

struct stored_encoder *stored_encoder_new(const struct ladder *ladder, int size_id,
                                          const struct stored_plan *plan, enum sdp_codec codec)
{
    const struct size_spec *size = &ladder->sizes[size_id];
    assert(size->layers <= (codec == SDP_HEVC ? STORED_X265_LAYERS : STORED_ENCODER_LAYERS));
    struct stored_encoder *e = calloc(1, sizeof(*e));
    if (e) {
        *e = (struct stored_encoder){
            .ladder = ladder, .plan = plan, .codec = codec, .size_id = size_id};
        e->macroblocks = (size->width + 15) / 16 * ((size->height + 15) / 16);
        e->offsets = calloc((size_t)e->macroblocks, sizeof(*e->offsets));
    }
    if (!e || !e->offsets) {
        log_error("no memory for an encoder");
        stored_encoder_free(e);
        return NULL;
    }
    return e;
}

void stored_encoder_free(struct stored_encoder *e)
{
    if (!e)
        return;
    free(e->offsets);
    free(e);
}
