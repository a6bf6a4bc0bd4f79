// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/stored_probe.h"

#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/stored/stored_encoder.h"
#include "media/stored/stored_quality.h"

struct stored_probe {
    const struct ladder *ladder;                       // borrowed
    const struct stored_plan *plan;                    // borrowed
    struct stored_encoder *encoders[LADDER_MAX_SIZES]; // owned; NULL: the size passes
    struct scaler *scaler;                             // owned
    struct stored_quality *quality;                    // owned
    // Of the excerpt in work; one reference each:
    struct stored_shape shape;
    struct picture *scaled[LADDER_MAX_SIZES][STORED_MAX_GOP];
    struct coded_frame *coded[LADDER_MAX_SIZES][STORED_MAX_GOP];
};

struct stored_probe *stored_probe_new(const struct ladder *ladder, const struct stored_plan *plan)
{
    struct stored_probe *p = calloc(1, sizeof(*p));
    if (!p) {
        log_error("no memory to measure the film");
        return NULL;
    }
    p->ladder = ladder;
    p->plan = plan;
    p->scaler = scaler_new();
    p->quality = stored_quality_new(ladder, SDP_H264);
    bool good = p->scaler && p->quality;
    for (int i = 0; i < ladder->size_count && good; i++)
        good = ladder_size_passes(ladder, i) ||
               (p->encoders[i] = stored_encoder_new(ladder, i, plan, SDP_H264)) != NULL;
    if (good)
        return p;
    stored_probe_free(p);
    return NULL;
}

void stored_probe_free(struct stored_probe *p)
{
    if (!p)
        return;
    for (int i = 0; i < LADDER_MAX_SIZES; i++)
        stored_encoder_free(p->encoders[i]);
    stored_quality_free(p->quality);
    scaler_free(p->scaler);
    free(p);
}

static int scale(struct stored_probe *p, struct picture *const pictures[])
{
    for (int size = 0; size < p->ladder->size_count; size++) {
        const struct size_spec *spec = &p->ladder->sizes[size];
        for (int at = 0; at < p->shape.frames && p->encoders[size]; at++) {
            if (p->shape.places[size][at].depends == STORED_NO_FRAME)
                continue;
            p->scaled[size][at] = scaler_scaled(p->scaler, pictures[at], spec->width, spec->height);
            if (!p->scaled[size][at])
                return ERR_NO_MEMORY;
        }
    }
    return 0;
}

// Returns the rate of a level in a full group.
static double rate_of(const struct stored_probe *p, const struct level *level)
{
    const struct stored_shape *full = &p->plan->full;
    double key = 0, others = 0;
    int count = 0, in_full = 0;
    for (int at = 0; at < p->shape.frames; at++) {
        const struct coded_frame *f = p->coded[level->size_id][at];
        if (!f || f->temporal_id > level->temporal_id)
            continue;
        key += f->key ? (double)f->bytes : 0;
        others += f->key ? 0 : (double)f->bytes;
        count += !f->key;
    }
    for (int at = 0; at < full->frames; at++) {
        const struct stored_place *place = &full->places[level->size_id][at];
        in_full += place->depends >= 0 && place->temporal_id <= level->temporal_id;
    }
    double bytes = key + (count ? others / count * in_full : 0);
    return 8 * bytes / (full->frames / fps_value(p->ladder->source_fps));
}

static void drop_coded(struct stored_probe *p)
{
    for (int size = 0; size < p->ladder->size_count; size++)
        for (int at = 0; at < p->shape.frames; at++) {
            coded_frame_unref(p->coded[size][at]);
            p->coded[size][at] = NULL;
        }
}

static int probe(struct stored_probe *p, struct picture *const pictures[], double quant,
                 struct stored_probe_result *out)
{
    int err = 0;
    *out = (struct stored_probe_result){0};
    for (int size = 0; size < p->ladder->size_count && !err; size++)
        if (p->encoders[size])
            err = stored_encoder_probe(p->encoders[size], quant, &p->shape, p->scaled[size],
                                       p->coded[size]);
    err = err ? err : stored_quality_measure(p->quality, &p->shape, pictures, p->coded, out->ssim);
    for (int i = 0; i < p->ladder->level_count && !err; i++)
        out->bps[i] = rate_of(p, &p->ladder->levels[i]);
    drop_coded(p);
    return err;
}

int stored_probe_run(struct stored_probe *p, struct picture *const pictures[], int frames,
                     const double quants[], int count, struct stored_probe_result results[])
{
    stored_shape_init(&p->shape, p->ladder, frames);
    int err = scale(p, pictures);
    for (int i = 0; i < count && !err; i++)
        err = probe(p, pictures, quants[i], &results[i]);
    for (int size = 0; size < p->ladder->size_count; size++)
        for (int at = 0; at < frames; at++) {
            picture_unref(p->scaled[size][at]);
            p->scaled[size][at] = NULL;
        }
    return err;
}
