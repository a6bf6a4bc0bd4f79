// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/encode/x264_engine.h"

#include <assert.h>
#include <libavutil/base64.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/coded/encode_limit.h"
#include "media/encode/x264_stream.h"
#include "media/rtp/h264.h"

enum {
    QP_MAX = 51, // x264 accepts more, but then also drops coefficients
};

struct x264_engine {
    x264_t *x264;   // owned
    float *offsets; // owned: a quantiser offset for each macroblock
    int macroblocks;
    x264_nal_t *nals; // the last frame's; borrowed from x264 until its next call
    int nal_count;
    bool key;                        // the last frame is an IDR
    struct x264_numbering numbering; // of the last frame; every frame is a reference
};

static int cores(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (int)count;
}

static x264_t *open_x264(const struct size_spec *size, int id, int dpb, bool baseline)
{
    x264_param_t p;
    if (x264_param_default_preset(&p, "superfast", "zerolatency") < 0)
        return NULL;
    p.i_bframe = 0;        // x264_encoder_invalidate_reference refuses B-frames ...
    p.b_intra_refresh = 0; // ... and intra refresh
    p.i_frame_reference = 1;
    p.i_dpb_size = dpb;
    p.i_keyint_max = X264_KEYINT_MAX_INFINITE; // the caller sets each frame's type
    p.i_scenecut_threshold = 0;
    // layer_rate.h controls the rate. x264's own control knows one rate and one kind of P frame, so
    // it could not keep a lower level's share or bounds over 2 s. With CRF and a quantiser forced
    // for each picture, only adaptive quantisation stays active.
    p.rc.i_rc_method = X264_RC_CRF;
    p.rc.i_aq_mode = X264_AQ_VARIANCE; // quant_offsets require a mode
    p.rc.i_qp_min = 0;
    p.rc.i_qp_max = QP_MAX;
    p.rc.b_mb_tree = 0;
    p.rc.i_lookahead = 0;
    x264_stream_set(&p, size, id);
    // Slices of one picture are coded at the same time, so there is still no delay.
    p.i_threads = encode_limit_threads(size, cores());
    p.b_sliced_threads = p.i_threads > 1;
    if (baseline && x264_param_apply_profile(&p, "baseline") < 0)
        return NULL;
    return x264_encoder_open(&p);
}

struct x264_engine *x264_engine_new(const struct size_spec *size, int id, int dpb, bool baseline)
{
    struct x264_engine *e = calloc(1, sizeof(*e));
    if (!e) {
        log_error("no memory for an encoder");
        return NULL;
    }
    e->numbering.widened = true;
    e->macroblocks = (size->width + 15) / 16 * ((size->height + 15) / 16);
    e->offsets = calloc((size_t)e->macroblocks, sizeof(*e->offsets));
    e->x264 = e->offsets ? open_x264(size, id, dpb, baseline) : NULL;
    if (!e->x264) {
        log_error("x264 cannot encode %dx%d at %d/%d frames per second", size->width, size->height,
                  size->fps.num, size->fps.den);
        x264_engine_free(e);
        return NULL;
    }
    return e;
}

void x264_engine_free(struct x264_engine *e)
{
    if (!e)
        return;
    if (e->x264)
        x264_encoder_close(e->x264);
    free(e->offsets);
    free(e);
}

int x264_engine_parameter_sets(struct x264_engine *e, char *sprop, size_t cap,
                               char profile_level_id[8])
{
    x264_nal_t *nals;
    int count;
    if (x264_encoder_headers(e->x264, &nals, &count) < 0)
        return ERR_FULL;
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        if (nals[i].i_type != NAL_SPS && nals[i].i_type != NAL_PPS)
            continue;
        uint8_t body[H264_MAX_SPS * 3 / 2 + 2];
        int len = x264_stream_copy(&nals[i], &e->numbering, body, sizeof(body));
        size_t comma = used > 0;
        if (len < 0 || used + comma + AV_BASE64_SIZE((size_t)len) > cap)
            return ERR_FULL;
        if (nals[i].i_type == NAL_SPS)
            snprintf(profile_level_id, 8, "%02x%02x%02x", body[1], body[2], body[3]);
        if (comma)
            sprop[used++] = ',';
        av_base64_encode(sprop + used, (int)(cap - used), body, len);
        used += strlen(sprop + used);
    }
    return 0;
}

void x264_engine_forget(struct x264_engine *e, int64_t stamp)
{
    int err = x264_encoder_invalidate_reference(e->x264, stamp);
    assert(err == 0); // fails only with B-frames or intra refresh
    (void)err;
}

int x264_engine_encode(struct x264_engine *e, const struct picture *p, int64_t stamp, bool key,
                       double qp)
{
    assert(qp >= 0 && qp <= QP_MAX);
    // x264 takes an integer quantiser for the picture. The fraction becomes an offset of each
    // macroblock, which x264 rounds after adaptive quantisation.
    int whole = (int)floor(qp);
    for (int i = 0; i < e->macroblocks; i++)
        e->offsets[i] = (float)(qp - whole);

    x264_picture_t in, out;
    x264_stream_input(&in, p);
    in.i_type = key ? X264_TYPE_IDR : X264_TYPE_P;
    in.i_qpplus1 = whole + 1;
    in.i_pts = stamp;
    in.prop.quant_offsets = e->offsets; // read within the call
    e->key = key;
    e->numbering.frame_num = key ? 0 : e->numbering.frame_num + 1;
    if (x264_encoder_encode(e->x264, &e->nals, &e->nal_count, &in, &out) <= 0) {
        log_error("x264 failed to encode frame %lld", (long long)p->number);
        return ERR_IO;
    }
    if (out.i_pts != stamp || (out.i_type == X264_TYPE_IDR) != key) {
        log_error("x264 did not encode frame %lld as requested", (long long)p->number);
        return ERR_IO;
    }
    int bytes = 0;
    for (int i = 0; i < e->nal_count; i++)
        bytes += x264_stream_wants(&e->nals[i]) ? e->nals[i].i_payload : 0;
    return bytes;
}

struct coded_frame *x264_engine_take(struct x264_engine *e)
{
    struct coded_frame *f = x264_stream_frame(e->nals, e->nal_count, &e->numbering);
    if (f)
        f->key = e->key;
    return f;
}
