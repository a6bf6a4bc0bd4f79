// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/encode/encoder.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/coded/layer_rate.h"
#include "media/coded/layer_refs.h"
#include "media/encode/x264_engine.h"

enum {
    DPB = 8,           // frames; a repair can reference any of them
    DPB_SPARE = 4,     // min. frames beyond the layers' period: discarded attempts take places too
    KEY_INTERVAL = 10, // max. seconds between key frames
    MAX_ATTEMPTS = 5,  // max. encodings of one frame
    // ITU-T H.264, table A-1, level 3.1: macroblocks of a frame, and of all references together.
    MAX_FRAME_31 = 3600,
    MAX_DPB_31 = 18000,
};

struct encoder {
    struct ladder ladder;
    int size_id;
    struct x264_engine *x264; // owned
    struct layer_refs refs;
    struct layer_rate rate;
    bool key_wanted;
    bool is_keyed;       // a key frame is made every KEY_INTERVAL at least
    int64_t last_number; // number of the last frame; -1 none
    int64_t key_index;   // index of the last key frame within the size
};

static const struct size_spec *size_of(const struct encoder *e)
{
    return &e->ladder.sizes[e->size_id];
}

// Returns the number of frames that stay available as references. In the baseline profile they keep
// within level 3.1 where the size does, as receivers may decode no more; then fewer frames can be
// encoded again (layer_refs_may_discard).
static int dpb_of(const struct size_spec *size, bool baseline)
{
    int period = 1 << (size->layers - 1);
    int dpb = period + DPB_SPARE > DPB ? period + DPB_SPARE : DPB;
    int frame = (size->width + 15) / 16 * ((size->height + 15) / 16);
    bool is_31 = baseline && frame <= MAX_FRAME_31 && MAX_DPB_31 / frame > period;
    return is_31 && MAX_DPB_31 / frame < dpb ? MAX_DPB_31 / frame : dpb;
}

struct encoder *encoder_new(const struct ladder *ladder, int size_id)
{
    assert(size_id >= 0 && size_id < ladder->size_count);
    assert(ladder_size_bitrate(ladder, size_id) > 0);
    struct encoder *e = calloc(1, sizeof(*e));
    if (!e) {
        log_error("no memory for an encoder");
        return NULL;
    }
    e->ladder = *ladder;
    e->size_id = size_id;
    e->last_number = -1;
    e->is_keyed = true;
    const struct size_spec *size = size_of(e);
    int dpb = dpb_of(size, ladder->baseline);
    e->x264 = x264_engine_new(size, size_id, dpb, ladder->baseline);
    if (!e->x264) {
        free(e);
        return NULL;
    }
    layer_refs_init(&e->refs, size->layers, dpb);
    int rates[LEVEL_MAX_LAYERS] = {0};
    for (int l = 0; l < ladder->level_count; l++)
        if (ladder->levels[l].size_id == size_id)
            rates[ladder->levels[l].temporal_id] = ladder->levels[l].bitrate_bps;
    // No viewer receives layers above the top level; they get a usual layer's share.
    if (rates[size->layers - 1] == 0)
        rates[size->layers - 1] = ladder_size_bitrate(ladder, size_id) / 3 * 4;
    layer_rate_init(&e->rate, size->width, size->height, fps_value(size->fps), size->layers, rates);
    return e;
}

void encoder_free(struct encoder *e)
{
    if (!e)
        return;
    x264_engine_free(e->x264);
    free(e);
}

int encoder_parameter_sets(struct encoder *e, char *sprop, size_t cap, char profile_level_id[8])
{
    return x264_engine_parameter_sets(e->x264, sprop, cap, profile_level_id);
}

// Returns true if the T0 frame `index` must be a key frame: one is requested, or the next T0 frame
// would be later than KEY_INTERVAL after the last key frame, unless all viewers report losses.
static bool key_is_due(const struct encoder *e, int64_t index)
{
    const struct size_spec *size = size_of(e);
    int64_t next = index + (1 << (size->layers - 1));
    bool is_late = (next - e->key_index) * size->fps.den > (int64_t)KEY_INTERVAL * size->fps.num;
    return e->key_wanted || (e->is_keyed && is_late);
}

// Encodes the frame, again if needed, until it fits into the room of its levels. Returns 0 or
// ERR_IO.
static int encode_to_fit(struct encoder *e, const struct picture *p, int64_t index, int temporal_id,
                         struct layer_choice *choice)
{
    double qp = layer_rate_begin(&e->rate, index, temporal_id, choice->key);
    for (int attempt = 1;; attempt++) {
        if (choice->forget_from >= 0)
            x264_engine_forget(e->x264, choice->forget_from);
        int bytes = x264_engine_encode(e->x264, p, e->refs.stamp, choice->key, qp);
        if (bytes < 0)
            return bytes;
        double next_qp = qp;
        bool fits = layer_rate_fits(&e->rate, 8.0 * bytes, &next_qp);
        if (fits || attempt == MAX_ATTEMPTS || !layer_refs_may_discard(&e->refs, choice)) {
            layer_rate_end(&e->rate, 8.0 * bytes, qp);
            return 0;
        }
        layer_refs_discarded(&e->refs, choice);
        if (!choice->key) // the encoder must now also forget the discarded attempt
            choice->forget_from = choice->stamp + 1;
        qp = next_qp;
    }
}

int encoder_encode(struct encoder *e, const struct picture *p, struct coded_frame **out)
{
    const struct size_spec *size = size_of(e);
    int64_t index = size_index_of_frame(size->fps, e->ladder.source_fps, p->number);
    assert(index >= 0 && p->number > e->last_number);
    assert(p->width == size->width && p->height == size->height);
    *out = NULL;
    e->last_number = p->number;

    int temporal_id = layer_temporal_id(index, size->layers);
    struct layer_choice choice = layer_refs_choose(&e->refs, temporal_id);
    if (temporal_id == 0 && key_is_due(e, index))
        choice =
            (struct layer_choice){.key = true, .depends_on = -1, .stamp = -1, .forget_from = -1};
    if (choice.key && temporal_id > 0)
        return 0;

    int err = encode_to_fit(e, p, index, temporal_id, &choice);
    if (err) {
        // x264's state is unknown: reference none of its frames; the next T0 frame is a key frame.
        int64_t stamp = e->refs.stamp + 1;
        layer_refs_init(&e->refs, e->refs.layers, e->refs.dpb);
        e->refs.stamp = stamp;
        return err;
    }
    struct coded_frame *f = x264_engine_take(e->x264);
    layer_refs_kept(&e->refs, p->number, temporal_id, &choice);
    if (choice.key) {
        e->key_wanted = false;
        e->key_index = index;
    }
    if (!f) { // no viewer gets this frame, so no later one may depend on it
        encoder_repair(e, p->number);
        return ERR_NO_MEMORY;
    }
    f->number = p->number;
    f->size_id = e->size_id;
    f->temporal_id = temporal_id;
    f->depends_on = choice.depends_on;
    f->pts = p->pts;
    f->capture_wall = p->capture_wall;
    *out = f;
    return 0;
}

void encoder_request_key(struct encoder *e, int64_t since)
{
    if (since < 0 || e->refs.key_number <= since)
        e->key_wanted = true;
}

int encoder_repair(struct encoder *e, int64_t number)
{
    if (layer_refs_lost(&e->refs, number) != LAYER_LOSS_NEEDS_KEY)
        return 0;
    e->key_wanted = true;
    return ERR_NOT_FOUND;
}

enum layer_loss encoder_loss(const struct encoder *e, int64_t number)
{
    return layer_refs_loss(&e->refs, number);
}

void encoder_set_periodic_keys(struct encoder *e, bool periodic)
{
    e->is_keyed = periodic;
}

void encoder_set_bitrate(struct encoder *e, int bitrate_bps)
{
    assert(bitrate_bps > 0);
    layer_rate_set(&e->rate, bitrate_bps);
}
