// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/encode/x264_stream.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/rtp/h264.h"

enum {
    START_CODE = 4,
    PROFILE_BASELINE = 66, // ITU-T H.264, 7.3.2.1.1: the SPS's first byte; its flags are the second
    CONSTRAINT_SET_2 = 0x20,
    GROWTH = H264_MAX_SPS / 2, // max. bytes that rewritten NAL units add to a frame
};

__attribute__((format(printf, 3, 0))) static void on_log(void *unused, int level,
                                                         const char *format, va_list args)
{
    (void)unused;
    char text[256];
    vsnprintf(text, sizeof(text), format, args);
    text[strcspn(text, "\n")] = '\0';
    log_at(level <= X264_LOG_ERROR ? LOG_ERROR : LOG_WARN, "x264: %s", text);
}

void x264_stream_set(x264_param_t *p, const struct size_spec *size, int id)
{
    p->i_threads = 1; // each encoder has a thread of its own already
    p->b_sliced_threads = 0;
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

void x264_stream_input(x264_picture_t *in, const struct picture *p)
{
    x264_picture_init(in);
    in->img.i_csp = X264_CSP_I420;
    in->img.i_plane = 3;
    for (int i = 0; i < 3; i++) {
        in->img.plane[i] = p->plane[i];
        in->img.i_stride[i] = p->stride[i];
    }
}

int x264_stream_copy(const x264_nal_t *nal, struct x264_numbering *n, uint8_t *out, size_t cap)
{
    size_t start = nal->b_long_startcode ? 4 : 3;
    size_t len = (size_t)nal->i_payload - start;
    const uint8_t *body = nal->p_payload + start;
    int err;
    if (nal->i_type == NAL_SPS) {
        err = n->widened ? h264_widen_sps(body, len, &n->bits, out, cap)
                         : h264_allow_gaps(body, len, out, cap);
        // x264 sets the flags 0 and 1 of constrained baseline. The stream obeys the extended
        // profile, too (A.2.3), and 42e0.. is how WebRTC writes the profile.
        if (err > 0 && out[1] == PROFILE_BASELINE)
            out[2] |= CONSTRAINT_SET_2;
    } else if (n->widened && (nal->i_type == NAL_SLICE || nal->i_type == NAL_SLICE_IDR)) {
        err = h264_widen_slice(body, len, n->bits, n->frame_num, out, cap);
    } else {
        err = len > cap ? ERR_FULL : (int)len;
        memcpy(out, body, err < 0 ? 0 : len);
    }
    assert(err > 0 || err == ERR_FULL); // x264's NAL units are well-formed
    return err;
}

struct coded_frame *x264_stream_frame(const x264_nal_t *nals, int count, struct x264_numbering *n)
{
    size_t cap = GROWTH;
    for (int i = 0; i < count; i++)
        cap += (size_t)nals[i].i_payload;
    struct coded_frame *f = coded_frame_new(cap);
    if (!f)
        return NULL;
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        if (!x264_stream_wants(&nals[i]))
            continue;
        static const uint8_t start_code[START_CODE] = {0, 0, 0, 1};
        memcpy(f->data + used, start_code, START_CODE);
        used += START_CODE;
        int len = x264_stream_copy(&nals[i], n, f->data + used, cap - used);
        assert(len > 0 && f->nal_count < CODED_FRAME_MAX_NALS); // few slices per picture
        f->nals[f->nal_count++] = (struct nal){(uint32_t)used, (uint32_t)len};
        used += (size_t)len;
    }
    f->bytes = used;
    return f;
}
