// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/encode/vp9_encoder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <vpx/vpx_encoder.h>
#include <vpx/vp8cx.h> // requires the header before it
// clang-format on

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/rtp/vp9.h"
#include "media/rtp/vp9_payload.h"

enum {
    SPEED = 7,          // of libvpx, 0 .. 9; 8 takes 20 % less, with lower SSIM at each level
    CYCLIC_REFRESH = 3, // libvpx's adaptive quantisation for real time
    BT_709 = 2,         // libvpx's numbers of a colour space ...
    STUDIO_RANGE = 0,   // ... and a range
    QP_MIN = 2,         // 0 .. 63
    QP_MAX = 60,
    KEY_INTERVAL = 10, // max. seconds between key frames
    // Of the rate control, in ms and percent, as the realtime uses of libvpx set them.
    BUFFER = 1000,
    BUFFER_INITIAL = 500,
    BUFFER_OPTIMAL = 600,
    SHOOT = 50,
};

struct slot {
    int64_t number; // of the frame that it has; -1 none
    int temporal_id;
};

struct vp9_encoder {
    struct ladder ladder;
    vpx_codec_ctx_t codec;
    bool open; // `codec` is initialised
    vpx_codec_enc_cfg_t config;
    struct slot slots[2 * VP9_MAX_SIZES];
    int64_t sync[VP9_MAX_SIZES]; // number of the last sync or key frame of each size; -1 none
    int wanted;                  // the smallest size whose next T0 frame is one; sizes: none
    int64_t last_number;         // -1 none
    int64_t key_index;           // index of the last key frame within the sizes
    int64_t base_index;          // index of the last T0 frame
    bool is_keyed;               // a key frame is made every KEY_INTERVAL at least
};

static const struct size_spec *top_of(const struct vp9_encoder *e)
{
    return &e->ladder.sizes[e->ladder.size_count - 1];
}

static int level_rate(const struct ladder *l, const int *bps, int size_id, int temporal_id)
{
    for (int i = 0; i < l->level_count; i++)
        if (l->levels[i].size_id == size_id && l->levels[i].temporal_id == temporal_id)
            return bps[i];
    return 0;
}

// A level has the bits of all smaller sizes; libvpx's layer those of one size. Both have the bits
// of lower temporal ids. Returns 0 or ERR_RANGE.
static int rates_to_config(vpx_codec_enc_cfg_t *c, const struct ladder *l, const int *bps)
{
    int layers = l->sizes[0].layers;
    for (int s = 0; s < l->size_count; s++) {
        int below = 0, kbps = 0; // of the temporal ids below, of this size alone
        for (int t = 0; t < layers; t++) {
            int own = level_rate(l, bps, s, t) - (s > 0 ? level_rate(l, bps, s - 1, t) : 0);
            if (own <= below)
                return ERR_RANGE;
            below = own;
            kbps = own / 1000 > kbps ? own / 1000 : kbps + 1; // libvpx requires that they ascend
            c->layer_target_bitrate[s * layers + t] = (unsigned)kbps;
        }
        c->ss_target_bitrate[s] = (unsigned)kbps;
    }
    c->rc_target_bitrate = (unsigned)(level_rate(l, bps, l->size_count - 1, layers - 1) / 1000);
    return 0;
}

static int set_config(struct vp9_encoder *e, const int *bps)
{
    const struct size_spec *top = top_of(e);
    vpx_codec_enc_cfg_t *c = &e->config;
    if (vpx_codec_enc_config_default(vpx_codec_vp9_cx(), c, 0) != VPX_CODEC_OK)
        return ERR_UNSUPPORTED;
    c->g_w = (unsigned)top->width;
    c->g_h = (unsigned)top->height;
    c->g_timebase = (vpx_rational_t){top->fps.den, top->fps.num};
    c->g_threads = 1; // each encoder has a thread of its own already
    c->g_error_resilient = VPX_ERROR_RESILIENT_DEFAULT;
    c->g_lag_in_frames = 0;
    c->kf_mode = VPX_KF_DISABLED; // the caller sets each frame's type
    c->rc_end_usage = VPX_CBR;
    c->rc_dropframe_thresh = 0;
    c->rc_min_quantizer = QP_MIN;
    c->rc_max_quantizer = QP_MAX;
    c->rc_undershoot_pct = c->rc_overshoot_pct = SHOOT;
    c->rc_buf_sz = BUFFER;
    c->rc_buf_initial_sz = BUFFER_INITIAL;
    c->rc_buf_optimal_sz = BUFFER_OPTIMAL;
    c->ss_number_layers = (unsigned)e->ladder.size_count;
    c->ts_number_layers = (unsigned)top->layers;
    for (int t = 0; t < top->layers; t++)
        c->ts_rate_decimator[t] = 1u << (top->layers - 1 - t);
    c->temporal_layering_mode = VP9E_TEMPORAL_LAYERING_MODE_BYPASS;
    return rates_to_config(c, &e->ladder, bps);
}

static bool set_controls(struct vp9_encoder *e)
{
    vpx_svc_extra_cfg_t svc = {0};
    for (int s = 0; s < e->ladder.size_count; s++) {
        svc.scaling_factor_num[s] = 1;
        svc.scaling_factor_den[s] = 1 << (e->ladder.size_count - 1 - s);
    }
    // Unlike the factors, these are for each pair of a size and a temporal id.
    for (int i = 0; i < e->ladder.size_count * top_of(e)->layers; i++) {
        svc.min_quantizers[i] = QP_MIN;
        svc.max_quantizers[i] = QP_MAX;
    }
    vpx_codec_ctx_t *c = &e->codec;
    return vpx_codec_control(c, VP8E_SET_CPUUSED, SPEED) == VPX_CODEC_OK &&
           vpx_codec_control(c, VP9E_SET_SVC, 1) == VPX_CODEC_OK &&
           vpx_codec_control(c, VP9E_SET_SVC_PARAMETERS, &svc) == VPX_CODEC_OK &&
           vpx_codec_control(c, VP9E_SET_AQ_MODE, CYCLIC_REFRESH) == VPX_CODEC_OK &&
           vpx_codec_control(c, VP9E_SET_TILE_COLUMNS, 0) == VPX_CODEC_OK &&
           vpx_codec_control(c, VP9E_SET_COLOR_SPACE, BT_709) == VPX_CODEC_OK &&
           vpx_codec_control(c, VP9E_SET_COLOR_RANGE, STUDIO_RANGE) == VPX_CODEC_OK;
}

// Forgets all frames: the next T0 frame is a key frame.
static void restart(struct vp9_encoder *e)
{
    for (int i = 0; i < 2 * VP9_MAX_SIZES; i++)
        e->slots[i].number = -1;
    e->wanted = 0;
}

// Returns true if the ladder has the shape that the header describes.
static bool is_cumulative(const struct ladder *l)
{
    const struct size_spec *top = &l->sizes[l->size_count - 1];
    if (l->size_count < 1 || l->size_count > VP9_MAX_SIZES || top->layers > VP9_MAX_LAYERS)
        return false;
    for (int s = 0; s < l->size_count; s++) {
        const struct size_spec *size = &l->sizes[s];
        int divisor = 1 << (l->size_count - 1 - s);
        int width = top->width / divisor, height = top->height / divisor;
        // libvpx rounds up to even numbers.
        if (size->width != width + width % 2 || size->height != height + height % 2 ||
            size->layers != top->layers || fps_value(size->fps) != fps_value(top->fps))
            return false;
    }
    return true;
}

struct vp9_encoder *vp9_encoder_new(const struct ladder *ladder)
{
    assert(is_cumulative(ladder));
    struct vp9_encoder *e = calloc(1, sizeof(*e));
    if (!e) {
        log_error("no memory for an encoder");
        return NULL;
    }
    e->ladder = *ladder;
    e->last_number = -1;
    e->is_keyed = true;
    for (int s = 0; s < VP9_MAX_SIZES; s++)
        e->sync[s] = -1;
    restart(e);
    int bps[LADDER_MAX_LEVELS];
    for (int i = 0; i < ladder->level_count; i++)
        bps[i] = ladder->levels[i].bitrate_bps;
    if (set_config(e, bps) == 0)
        e->open = vpx_codec_enc_init(&e->codec, vpx_codec_vp9_cx(), &e->config, 0) == VPX_CODEC_OK;
    if (!e->open || !set_controls(e)) {
        log_error("libvpx cannot encode %dx%d in %d sizes: %s", top_of(e)->width, top_of(e)->height,
                  ladder->size_count, e->open ? vpx_codec_error(&e->codec) : "refused");
        vp9_encoder_free(e);
        return NULL;
    }
    return e;
}

void vp9_encoder_free(struct vp9_encoder *e)
{
    if (!e)
        return;
    if (e->open)
        vpx_codec_destroy(&e->codec);
    free(e);
}

// What the frames of a picture are predicted from, and where libvpx keeps them.
struct plan {
    int temporal_id;
    int from;                     // the smallest size with a key or sync frame; sizes: none
    int reference[VP9_MAX_SIZES]; // slot of the earlier frame of the size; -1 none
    int refreshed[VP9_MAX_SIZES]; // slot that takes the frame; -1 none
};

static void make_plan(const struct vp9_encoder *e, int temporal_id, bool key, struct plan *plan)
{
    int sizes = e->ladder.size_count, layers = top_of(e)->layers;
    *plan = (struct plan){.temporal_id = temporal_id, .from = sizes};
    if (temporal_id == 0)
        plan->from = key ? 0 : e->wanted;
    for (int s = 0; s < sizes; s++) {
        const struct slot *base = &e->slots[s], *other = &e->slots[sizes + s];
        // The newest frame of a lower temporal id; of T0 only for T0.
        bool use_other = other->number > base->number && other->temporal_id < temporal_id;
        plan->reference[s] = s >= plan->from ? -1 : use_other ? sizes + s : s;
        // No frame is predicted from the largest size's highest layer. The smaller sizes' ones are
        // kept for the larger sizes of this picture.
        bool is_kept = s < sizes - 1 || temporal_id < layers - 1;
        plan->refreshed[s] = temporal_id == 0 ? s : is_kept ? sizes + s : -1;
    }
}

static bool set_plan(struct vp9_encoder *e, const struct plan *plan)
{
    vpx_svc_layer_id_t id = {.temporal_layer_id = plan->temporal_id};
    vpx_svc_ref_frame_config_t refs = {0};
    for (int s = 0; s < e->ladder.size_count; s++) {
        id.temporal_layer_id_per_spatial[s] = plan->temporal_id;
        int own = plan->reference[s], lower = s > 0 ? plan->refreshed[s - 1] : -1;
        refs.reference_last[s] = own >= 0;
        refs.lst_fb_idx[s] = own >= 0 ? own : s;
        refs.reference_golden[s] = lower >= 0;
        refs.gld_fb_idx[s] = lower >= 0 ? lower : s;
        refs.alt_fb_idx[s] = refs.lst_fb_idx[s];
        refs.update_buffer_slot[s] = plan->refreshed[s] >= 0 ? 1 << plan->refreshed[s] : 0;
    }
    return vpx_codec_control(&e->codec, VP9E_SET_SVC_LAYER_ID, &id) == VPX_CODEC_OK &&
           vpx_codec_control(&e->codec, VP9E_SET_SVC_REF_FRAME_CONFIG, &refs) == VPX_CODEC_OK;
}

// Gives the frames of all sizes to libvpx and returns its superframe, which is borrowed until the
// next call; NULL: libvpx failed.
static const vpx_codec_cx_pkt_t *run(struct vp9_encoder *e, const struct picture *p, int64_t index,
                                     const struct plan *plan)
{
    vpx_image_t image;
    // libvpx reads the planes within the call.
    if (!vpx_img_wrap(&image, VPX_IMG_FMT_I420, (unsigned)p->width, (unsigned)p->height, 1,
                      p->plane[0]) ||
        !set_plan(e, plan))
        return NULL;
    for (int i = 0; i < 3; i++) {
        image.planes[i] = p->plane[i];
        image.stride[i] = p->stride[i];
    }
    vpx_enc_frame_flags_t flags = plan->from == 0 ? VPX_EFLAG_FORCE_KF : 0;
    if (vpx_codec_encode(&e->codec, &image, index, 1, flags, VPX_DL_REALTIME) != VPX_CODEC_OK)
        return NULL;
    vpx_codec_iter_t iter = NULL;
    const vpx_codec_cx_pkt_t *packet;
    while ((packet = vpx_codec_get_cx_data(&e->codec, &iter)) &&
           packet->kind != VPX_CODEC_CX_FRAME_PKT)
        continue;
    return packet;
}

static struct coded_frame *piece_of(const struct vp9_encoder *e, const struct picture *p,
                                    const struct plan *plan, int size_id, const uint8_t *data,
                                    size_t bytes)
{
    struct coded_frame *f = coded_frame_new(bytes);
    if (!f)
        return NULL;
    memcpy(f->data, data, bytes);
    f->nal_count = 1;
    f->nals[0] = (struct nal){0, (uint32_t)bytes};
    f->number = p->number;
    f->size_id = size_id;
    f->temporal_id = plan->temporal_id;
    f->key = plan->from == 0 && size_id == 0;
    f->depends_on = plan->reference[size_id] < 0 ? -1 : e->slots[plan->reference[size_id]].number;
    f->on_lower = size_id > 0;
    f->starts = plan->from;
    f->pts = p->pts;
    f->capture_wall = p->capture_wall;
    return f;
}

static void keep_plan(struct vp9_encoder *e, const struct plan *plan, int64_t number, int64_t index)
{
    int sizes = e->ladder.size_count;
    if (plan->from == 0) { // a key frame takes all slots
        restart(e);
        e->key_index = index;
    }
    for (int s = 0; s < sizes; s++) {
        if (plan->refreshed[s] >= 0)
            e->slots[plan->refreshed[s]] = (struct slot){number, plan->temporal_id};
        if (s >= plan->from)
            e->sync[s] = number;
    }
    if (plan->temporal_id == 0) {
        e->wanted = sizes;
        e->base_index = index;
    }
}

int vp9_encoder_encode(struct vp9_encoder *e, const struct picture *p,
                       struct coded_frame *out[VP9_MAX_SIZES])
{
    const struct size_spec *top = top_of(e);
    int64_t index = size_index_of_frame(top->fps, e->ladder.source_fps, p->number);
    assert(index >= 0 && p->number > e->last_number);
    assert(p->width == top->width && p->height == top->height);
    for (int s = 0; s < VP9_MAX_SIZES; s++)
        out[s] = NULL;
    e->last_number = p->number;
    int temporal_id = layer_temporal_id(index, top->layers);
    if (index - e->base_index > VP9_MAX_DIFF)
        restart(e);
    if (e->slots[0].number < 0 && temporal_id > 0)
        return 0;

    int64_t next = index + (1 << (top->layers - 1)); // index of the next T0 frame
    bool key_is_due = (next - e->key_index) * top->fps.den > (int64_t)KEY_INTERVAL * top->fps.num;
    struct plan plan;
    make_plan(e, temporal_id, e->is_keyed && key_is_due, &plan);
    const vpx_codec_cx_pkt_t *packet = run(e, p, index, &plan);
    const uint8_t *data = packet ? packet->data.frame.buf : NULL;
    struct nal pieces[VP9_MAX_PIECES];
    int count = packet ? vp9_split(data, packet->data.frame.sz, pieces) : 0;
    if (count != e->ladder.size_count) {
        log_error("libvpx failed to encode frame %lld: %s", (long long)p->number,
                  packet ? "sizes are missing" : vpx_codec_error(&e->codec));
        restart(e);
        return ERR_IO;
    }
    for (int s = 0; s < count; s++) {
        out[s] = piece_of(e, p, &plan, s, data + pieces[s].offset, pieces[s].len);
        if (out[s])
            continue;
        while (s-- > 0) { // no viewer gets this picture, so no later one may depend on it
            coded_frame_unref(out[s]);
            out[s] = NULL;
        }
        restart(e);
        return ERR_NO_MEMORY;
    }
    keep_plan(e, &plan, p->number, index);
    return 0;
}

void vp9_encoder_sync(struct vp9_encoder *e, int size_id, int64_t since)
{
    assert(size_id >= 0 && size_id < e->ladder.size_count);
    if ((since < 0 || e->sync[size_id] <= since) && size_id < e->wanted)
        e->wanted = size_id;
}

bool vp9_encoder_needs(const struct vp9_encoder *e, int size_id, int64_t number)
{
    // Frames above T0 are a reference only until the next T0 frame.
    int64_t index = size_index_of_frame(top_of(e)->fps, e->ladder.source_fps, number);
    return index >= 0 && layer_temporal_id(index, top_of(e)->layers) == 0 &&
           number >= e->sync[size_id] && number <= e->last_number;
}

bool vp9_encoder_repair(struct vp9_encoder *e, int size_id, int64_t number)
{
    bool needed = vp9_encoder_needs(e, size_id, number);
    if (needed)
        vp9_encoder_sync(e, size_id, number);
    return needed;
}

void vp9_encoder_set_periodic_keys(struct vp9_encoder *e, bool periodic)
{
    e->is_keyed = periodic;
}

int vp9_encoder_set_rates(struct vp9_encoder *e, const int bps[LADDER_MAX_LEVELS])
{
    vpx_codec_enc_cfg_t changed = e->config;
    if (rates_to_config(&changed, &e->ladder, bps) != 0 ||
        vpx_codec_enc_config_set(&e->codec, &changed) != VPX_CODEC_OK)
        return ERR_RANGE;
    e->config = changed;
    return 0;
}
