// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes nothing: gives the coded frames that the source's pictures bring along (coded_video.h).
#include <stdlib.h>

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/coded/coded_video.h"
#include "media/encode/video_encoder.h"

struct video_encoder_passed {
    struct video_encoder base; // first
    struct coded_video coded;
};

// The frame is shown earlier or later than the picture in whose turn it comes. It is only this
// encoder's until it is given.
static int encode(struct video_encoder *e, const struct picture *p,
                  struct coded_frame *out[VIDEO_ENCODER_MAX_SIZES])
{
    if (!p->coded)
        return 0;
    struct coded_frame *f = coded_frame_ref(p->coded);
    f->size_id = e->first_size;
    f->capture_wall = p->capture_wall ? p->capture_wall + f->pts - p->pts : 0;
    out[0] = f;
    return 0;
}

static void start(struct video_encoder *e, int size_id)
{
    (void)e, (void)size_id; // it starts anew at the source's next IDR
}

static enum layer_loss loss(const struct video_encoder *e, int size_id, int64_t number)
{
    (void)e, (void)size_id, (void)number;
    return LAYER_LOSS_NEEDS_KEY;
}

// Viewers see by `depends_on` that a frame is missing (level_switch.h).
static void repair(struct video_encoder *e, int size_id, int64_t number)
{
    (void)e, (void)size_id, (void)number;
}

static void set_periodic_keys(struct video_encoder *e, bool periodic)
{
    (void)e, (void)periodic;
}

static void set_bitrate(struct video_encoder *e, int size_id, int bps)
{
    (void)e, (void)size_id, (void)bps;
}

static int parameter_sets(struct video_encoder *e, char *sprop, size_t cap,
                          char profile_level_id[8])
{
    const struct coded_video *coded = &((struct video_encoder_passed *)e)->coded;
    memcpy(profile_level_id, coded->profile_level_id, sizeof(coded->profile_level_id));
    return snprintf(sprop, cap, "%s", coded->sprop) < (int)cap ? 0 : ERR_FULL;
}

static void free_passed(struct video_encoder *e)
{
    free(e);
}

struct video_encoder *video_encoder_new_passed(const struct ladder *ladder, int size_id,
                                               const struct coded_video *coded)
{
    static const struct video_encoder_ops ops = {.encode = encode,
                                                 .start = start,
                                                 .loss = loss,
                                                 .repair = repair,
                                                 .set_periodic_keys = set_periodic_keys,
                                                 .set_bitrate = set_bitrate,
                                                 .parameter_sets = parameter_sets,
                                                 .free = free_passed};
    struct video_encoder_passed *e = calloc(1, sizeof(*e));
    if (!e) {
        log_error("no memory for an encoder");
        return NULL;
    }
    e->coded = *coded;
    e->base = (struct video_encoder){.ops = &ops,
                                     .first_size = size_id,
                                     .size_count = 1,
                                     .width = ladder->sizes[size_id].width,
                                     .height = ladder->sizes[size_id].height};
    return &e->base;
}
