// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "media/encode/encoder.h"
#include "media/encode/video_encoder.h"

struct video_encoder_h264 {
    struct video_encoder base; // first
    struct encoder *encoder;   // owned
};

static struct encoder *encoder_of(const struct video_encoder *e)
{
    return ((const struct video_encoder_h264 *)e)->encoder;
}

static int encode(struct video_encoder *e, const struct picture *p,
                  struct coded_frame *out[VIDEO_ENCODER_MAX_SIZES])
{
    return encoder_encode(encoder_of(e), p, &out[0]);
}

static void start(struct video_encoder *e, int size_id)
{
    (void)size_id;
    encoder_request_key(encoder_of(e), -1);
}

static enum layer_loss loss(const struct video_encoder *e, int size_id, int64_t number)
{
    (void)size_id;
    return encoder_loss(encoder_of(e), number);
}

static void repair(struct video_encoder *e, int size_id, int64_t number)
{
    (void)size_id;
    (void)encoder_repair(encoder_of(e), number); // ERR_NOT_FOUND: it makes a key frame
}

static void set_periodic_keys(struct video_encoder *e, bool periodic)
{
    encoder_set_periodic_keys(encoder_of(e), periodic);
}

static void set_bitrate(struct video_encoder *e, int size_id, int bps)
{
    (void)size_id;
    encoder_set_bitrate(encoder_of(e), bps);
}

static int parameter_sets(struct video_encoder *e, char *sprop, size_t cap,
                          char profile_level_id[8])
{
    return encoder_parameter_sets(encoder_of(e), sprop, cap, profile_level_id);
}

static void free_h264(struct video_encoder *e)
{
    encoder_free(encoder_of(e));
    free(e);
}

struct video_encoder *video_encoder_new_h264(const struct ladder *ladder, int size_id)
{
    static const struct video_encoder_ops ops = {.encode = encode,
                                                 .start = start,
                                                 .loss = loss,
                                                 .repair = repair,
                                                 .set_periodic_keys = set_periodic_keys,
                                                 .set_bitrate = set_bitrate,
                                                 .parameter_sets = parameter_sets,
                                                 .free = free_h264};
    struct video_encoder_h264 *e = calloc(1, sizeof(*e));
    if (!e)
        return NULL;
    e->base = (struct video_encoder){.ops = &ops,
                                     .traits = {true, true, true},
                                     .first_size = size_id,
                                     .size_count = 1,
                                     .width = ladder->sizes[size_id].width,
                                     .height = ladder->sizes[size_id].height};
    e->encoder = encoder_new(ladder, size_id);
    if (e->encoder)
        return &e->base;
    free(e);
    return NULL;
}
