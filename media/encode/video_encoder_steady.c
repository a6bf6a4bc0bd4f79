// SPDX-License-Identifier: GPL-2.0-or-later
// A device may fail for good while it encodes: a driver's error, a graphics card that is gone. Its
// encoder opens it anew for each picture then. A viewer would get nothing, and the log a line for
// each picture.
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/encode/video_encoder.h"

struct video_encoder_steady {
    struct video_encoder base;    // first
    struct video_encoder *inner;  // owned; NULL: neither encoder works
    struct video_encoder *beaten; // owned: the first one, if `inner` is another
    const char *name;             // static
    struct ladder ladder;
    int failures;
    int bitrate_bps; // the last one that was set; 0: none
    bool no_keys;    // set_periodic_keys
};

static struct video_encoder_steady *of(struct video_encoder *e)
{
    return (struct video_encoder_steady *)e;
}

static struct video_encoder *inner_of(const struct video_encoder *e)
{
    return ((const struct video_encoder_steady *)e)->inner;
}

static void replace(struct video_encoder_steady *s)
{
    log_error("the encoder %s fails again and again: the processor encodes in its place, which may "
              "be too slow for this size (start weir-send again, or with --encoder x264)",
              s->name);
    s->beaten = s->inner;
    s->inner = video_encoder_new_h264(&s->ladder, s->base.first_size);
    if (!s->inner) {
        log_error("no encoder works: viewers of this size get no pictures");
        return;
    }
    if (s->bitrate_bps)
        s->inner->ops->set_bitrate(s->inner, s->base.first_size, s->bitrate_bps);
    s->inner->ops->set_periodic_keys(s->inner, !s->no_keys);
}

static int encode(struct video_encoder *base, const struct picture *p,
                  struct coded_frame *out[VIDEO_ENCODER_MAX_SIZES])
{
    struct video_encoder_steady *s = of(base);
    if (!s->inner)
        return ERR_IO;
    int err = s->inner->ops->encode(s->inner, p, out);
    if (s->beaten)
        return err;
    if (!err)
        s->failures -= out[0] && s->failures > 0; // it may give no frame for a picture
    else if (++s->failures >= VIDEO_ENCODER_FAILURES)
        replace(s);
    return err;
}

static void start(struct video_encoder *e, int size_id)
{
    if (inner_of(e))
        inner_of(e)->ops->start(inner_of(e), size_id);
}

static enum layer_loss loss(const struct video_encoder *e, int size_id, int64_t number)
{
    return inner_of(e) ? inner_of(e)->ops->loss(inner_of(e), size_id, number) : LAYER_LOSS_HARMLESS;
}

static void repair(struct video_encoder *e, int size_id, int64_t number)
{
    if (inner_of(e))
        inner_of(e)->ops->repair(inner_of(e), size_id, number);
}

static void set_periodic_keys(struct video_encoder *e, bool periodic)
{
    of(e)->no_keys = !periodic;
    if (inner_of(e))
        inner_of(e)->ops->set_periodic_keys(inner_of(e), periodic);
}

static void set_bitrate(struct video_encoder *e, int size_id, int bps)
{
    of(e)->bitrate_bps = bps;
    if (inner_of(e))
        inner_of(e)->ops->set_bitrate(inner_of(e), size_id, bps);
}

static int parameter_sets(struct video_encoder *e, char *sprop, size_t cap,
                          char profile_level_id[8])
{
    return inner_of(e)->ops->parameter_sets(inner_of(e), sprop, cap, profile_level_id);
}

static void free_steady(struct video_encoder *e)
{
    struct video_encoder_steady *s = of(e);
    if (s->inner)
        s->inner->ops->free(s->inner);
    if (s->beaten)
        s->beaten->ops->free(s->beaten);
    free(s);
}

struct video_encoder *video_encoder_new_steady(struct video_encoder *first, const char *name,
                                               const struct ladder *ladder)
{
    static const struct video_encoder_ops ops = {.encode = encode,
                                                 .start = start,
                                                 .loss = loss,
                                                 .repair = repair,
                                                 .set_periodic_keys = set_periodic_keys,
                                                 .set_bitrate = set_bitrate,
                                                 .parameter_sets = parameter_sets,
                                                 .free = free_steady};
    struct video_encoder_steady *s = calloc(1, sizeof(*s));
    if (!s) {
        log_error("cannot encode: out of memory");
        first->ops->free(first);
        return NULL;
    }
    s->base = *first;
    s->base.ops = &ops;
    s->inner = first;
    s->name = name;
    s->ladder = *ladder;
    return &s->base;
}
