// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "media/encode/video_encoder.h"
#include "media/encode/vp9_encoder.h"

// Of the ladder's rate: below it libvpx has reached its coarsest quantiser anyway.
#define MIN_SHARE 0.02

_Static_assert((int)VP9_MAX_SIZES <= (int)VIDEO_ENCODER_MAX_SIZES, "one frame a size");

struct video_encoder_vp9 {
    struct video_encoder base;   // first
    struct vp9_encoder *encoder; // owned
    struct ladder ladder;
    double share[VP9_MAX_SIZES]; // of the ladder's bitrate that the size's top level shall have
};

static struct vp9_encoder *encoder_of(const struct video_encoder *e)
{
    return ((const struct video_encoder_vp9 *)e)->encoder;
}

static int encode(struct video_encoder *e, const struct picture *p,
                  struct coded_frame *out[VIDEO_ENCODER_MAX_SIZES])
{
    return vp9_encoder_encode(encoder_of(e), p, out);
}

static void start(struct video_encoder *e, int size_id)
{
    vp9_encoder_sync(encoder_of(e), size_id, -1);
}

static enum layer_loss loss(const struct video_encoder *e, int size_id, int64_t number)
{
    return vp9_encoder_needs(encoder_of(e), size_id, number) ? LAYER_LOSS_NEEDS_KEY
                                                             : LAYER_LOSS_HARMLESS;
}

static void repair(struct video_encoder *e, int size_id, int64_t number)
{
    (void)vp9_encoder_repair(encoder_of(e), size_id, number);
}

static void set_periodic_keys(struct video_encoder *e, bool periodic)
{
    vp9_encoder_set_periodic_keys(encoder_of(e), periodic);
}

// A level contains the smaller sizes' levels, so a size has no larger share than the sizes above it
// leave it.
static void set_bitrate(struct video_encoder *base, int size_id, int bps)
{
    struct video_encoder_vp9 *e = (struct video_encoder_vp9 *)base;
    const struct ladder *l = &e->ladder;
    e->share[size_id] = fmax((double)bps / ladder_size_bitrate(l, size_id), MIN_SHARE);
    double share[VP9_MAX_SIZES];
    for (int s = l->size_count - 1; s >= 0; s--) {
        share[s] = e->share[s];
        if (s + 1 < l->size_count && share[s + 1] < share[s])
            share[s] = share[s + 1];
    }
    int rates[LADDER_MAX_LEVELS] = {0};
    for (int i = 0; i < l->level_count; i++)
        rates[i] = (int)(l->levels[i].bitrate_bps * share[l->levels[i].size_id]);
    if (vp9_encoder_set_rates(e->encoder, rates) != 0)
        log_debug("libvpx cannot encode at %d bit/s: the rate stays", bps);
}

static void free_vp9(struct video_encoder *e)
{
    vp9_encoder_free(encoder_of(e));
    free(e);
}

struct video_encoder *video_encoder_new_vp9(const struct ladder *ladder)
{
    static const struct video_encoder_ops ops = {.encode = encode,
                                                 .start = start,
                                                 .loss = loss,
                                                 .repair = repair,
                                                 .set_periodic_keys = set_periodic_keys,
                                                 .set_bitrate = set_bitrate,
                                                 .free = free_vp9};
    struct video_encoder_vp9 *e = calloc(1, sizeof(*e));
    if (!e)
        return NULL;
    const struct size_spec *top = &ladder->sizes[ladder->size_count - 1];
    e->base = (struct video_encoder){.ops = &ops,
                                     .traits = {.layers = true, .reconfigure = true},
                                     .size_count = ladder->size_count,
                                     .width = top->width,
                                     .height = top->height};
    e->ladder = *ladder;
    for (int s = 0; s < VP9_MAX_SIZES; s++)
        e->share[s] = 1;
    e->encoder = vp9_encoder_new(ladder);
    if (e->encoder)
        return &e->base;
    free(e);
    return NULL;
}
