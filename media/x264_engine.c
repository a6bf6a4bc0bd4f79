// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/x264_engine.h"

#include <assert.h>
#include <libavutil/base64.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x264.h> // wants stdint.h and stdarg.h before it

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/h264.h"

enum {
    QP_MAX = 51, // coarser is possible, but drops coefficients too
    START_CODE = 4,
    GROWTH = H264_MAX_SPS / 2, // of a frame's bytes by what we change

};

struct x264_engine {
    x264_t *x264;   // owned
    float *offsets; // owned: a quantiser offset for each macroblock
    int macroblocks;
    x264_nal_t *nals; // of the last frame; x264's, until its next call
    int nal_count;
    bool key;
    int frame_num_bits; // as x264 writes it
    uint32_t frame_num; // of the last frame: frames since the IDR
};

static void on_log(void *unused, int level, const char *format, va_list args)
{
    (void)unused;
    char text[256];
    vsnprintf(text, sizeof(text), format, args);
    text[strcspn(text, "\n")] = '\0';
    log_at(level <= X264_LOG_ERROR ? LOG_ERROR : LOG_WARN, "x264: %s", text);
}

// Rate control is not x264's (see layer_rate.h): its own knows one rate and one kind of P frame, so
// it holds neither a lower level's share nor windows of 2 s. With CRF and a quantiser forced for
// each picture, adaptive quantisation stays and all else rests.
static void set_rate_control(x264_param_t *p)
{
    p->rc.i_rc_method = X264_RC_CRF;
    p->rc.i_aq_mode = X264_AQ_VARIANCE; // quant_offsets need one
    p->rc.i_qp_min = 0;
    p->rc.i_qp_max = QP_MAX;
    p->rc.b_mb_tree = 0;
    p->rc.i_lookahead = 0;
}

static void set_structure(x264_param_t *p, int dpb)
{
    p->i_threads = 1; // a thread an encoder
    p->b_sliced_threads = 0;
    p->i_bframe = 0;        // x264_encoder_invalidate_reference refuses B-frames
    p->b_intra_refresh = 0; // and this
    p->i_frame_reference = 1;
    p->i_dpb_size = dpb;
    p->i_keyint_max = X264_KEYINT_MAX_INFINITE; // each frame's type is told
    p->i_scenecut_threshold = 0;
}

static void set_stream(x264_param_t *p, const struct size_spec *size, int id)
{
    p->i_csp = X264_CSP_I420;
    p->i_width = size->width;
    p->i_height = size->height;
    p->b_vfr_input = 0;
    p->i_fps_num = (uint32_t)size->fps.num;
    p->i_fps_den = (uint32_t)size->fps.den;
    p->i_timebase_num = p->i_fps_den;
    p->i_timebase_den = p->i_fps_num;
    // BT.709, limited range (ITU-T H.264, tables E-3, E-4, E-5); square pixels.
    p->vui.b_fullrange = 0;
    p->vui.i_colorprim = 1;
    p->vui.i_transfer = 1;
    p->vui.i_colmatrix = 1;
    p->vui.i_sar_width = 1;
    p->vui.i_sar_height = 1;
    p->i_sps_id = id;
    p->b_repeat_headers = 1;
    p->b_annexb = 1;
    p->b_aud = 0;
    p->pf_log = on_log;
    p->i_log_level = X264_LOG_WARNING;
}

static x264_t *open_x264(const struct size_spec *size, int id, int dpb, const char *preset)
{
    x264_param_t p;
    if (x264_param_default_preset(&p, preset, "zerolatency") < 0)
        return NULL;
    set_structure(&p, dpb);
    set_rate_control(&p);
    set_stream(&p, size, id);
    return x264_encoder_open(&p);
}

struct x264_engine *x264_engine_new(const struct size_spec *size, int id, int dpb,
                                    const char *preset)
{
    struct x264_engine *e = calloc(1, sizeof(*e));
    if (!e) {
        log_error("no memory for an encoder");
        return NULL;
    }
    e->macroblocks = (size->width + 15) / 16 * ((size->height + 15) / 16);
    e->offsets = calloc((size_t)e->macroblocks, sizeof(*e->offsets));
    e->x264 = e->offsets ? open_x264(size, id, dpb, preset) : NULL;
    if (!e->x264) {
        log_error("x264 cannot encode %dx%d at %d/%d frames a second", size->width, size->height,
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

// A NAL unit without its start code.
static const uint8_t *body_of(const x264_nal_t *nal, size_t *len)
{
    size_t start = nal->b_long_startcode ? 4 : 3;
    *len = (size_t)nal->i_payload - start;
    return nal->p_payload + start;
}

// SEI is left out: x264's only names the program that made the stream.
static bool is_wanted(const x264_nal_t *nal)
{
    return nal->i_type != NAL_SEI;
}

// Writes the body as receivers get it; its length, or ERR_FULL.
static int copy_body(struct x264_engine *e, const x264_nal_t *nal, uint8_t *out, size_t cap)
{
    size_t len;
    const uint8_t *body = body_of(nal, &len);
    int err;
    if (nal->i_type == NAL_SPS) {
        err = h264_widen_sps(body, len, &e->frame_num_bits, out, cap);
    } else if (nal->i_type == NAL_SLICE || nal->i_type == NAL_SLICE_IDR) {
        err = h264_widen_slice(body, len, e->frame_num_bits, e->frame_num, out, cap);
    } else {
        err = len > cap ? ERR_FULL : (int)len;
        memcpy(out, body, err < 0 ? 0 : len);
    }
    assert(err > 0 || err == ERR_FULL); // x264's own
    return err;
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
        uint8_t body[H264_MAX_SPS + GROWTH];
        int len = copy_body(e, &nals[i], body, sizeof(body));
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
    assert(err == 0); // refused with B-frames or intra refresh only
    (void)err;
}

int x264_engine_encode(struct x264_engine *e, const struct picture *p, int64_t stamp, bool key,
                       double qp)
{
    assert(qp >= 0 && qp <= QP_MAX);
    // x264 takes a whole quantiser; the rest goes to each macroblock, where it is rounded after AQ.
    int whole = (int)floor(qp);
    for (int i = 0; i < e->macroblocks; i++)
        e->offsets[i] = (float)(qp - whole);

    x264_picture_t in, out;
    x264_picture_init(&in);
    in.i_type = key ? X264_TYPE_IDR : X264_TYPE_P;
    in.i_qpplus1 = whole + 1;
    in.i_pts = stamp;
    in.prop.quant_offsets = e->offsets; // read within the call
    in.img.i_csp = X264_CSP_I420;
    in.img.i_plane = 3;
    for (int i = 0; i < 3; i++) {
        in.img.plane[i] = p->plane[i];
        in.img.i_stride[i] = p->stride[i];
    }
    e->key = key;
    e->frame_num = key ? 0 : e->frame_num + 1; // every frame is a reference
    if (x264_encoder_encode(e->x264, &e->nals, &e->nal_count, &in, &out) <= 0) {
        log_error("x264 encoded nothing of frame %lld", (long long)p->number);
        return ERR_IO;
    }
    if (out.i_pts != stamp || (out.i_type == X264_TYPE_IDR) != key) {
        log_error("x264 did not encode frame %lld as told", (long long)p->number);
        return ERR_IO;
    }
    int bytes = 0;
    for (int i = 0; i < e->nal_count; i++)
        bytes += is_wanted(&e->nals[i]) ? e->nals[i].i_payload : 0;
    return bytes;
}

struct coded_frame *x264_engine_take(struct x264_engine *e)
{
    size_t cap = GROWTH;
    for (int i = 0; i < e->nal_count; i++)
        cap += (size_t)e->nals[i].i_payload;
    struct coded_frame *f = coded_frame_new(cap);
    if (!f)
        return NULL;
    size_t used = 0;
    for (int i = 0; i < e->nal_count; i++) {
        if (!is_wanted(&e->nals[i]))
            continue;
        static const uint8_t start_code[START_CODE] = {0, 0, 0, 1};
        memcpy(f->data + used, start_code, START_CODE);
        used += START_CODE;
        int len = copy_body(e, &e->nals[i], f->data + used, cap - used);
        assert(len > 0 && f->nal_count < CODED_FRAME_MAX_NALS); // one slice a picture
        f->nals[f->nal_count++] = (struct nal){(uint32_t)used, (uint32_t)len};
        used += (size_t)len;
    }
    f->bytes = used;
    f->key = e->key;
    return f;
}
