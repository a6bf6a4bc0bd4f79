// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/stored_quality.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "media/decode/decoder.h"
#include "media/picture/quality.h"

enum { MAX_SEEN = 8 }; // source frames for which one frame is shown, at most

struct stored_quality {
    const struct ladder *ladder; // borrowed
    struct decoder *decoder;     // owned
    struct scaler *scaler;       // owned
    // Of the group in work:
    struct picture *source[STORED_MAX_GOP]; // owned; in the largest size; NULL: not needed so far
};

struct stored_quality *stored_quality_new(const struct ladder *ladder, enum sdp_codec codec)
{
    struct stored_quality *q = calloc(1, sizeof(*q));
    if (!q)
        return NULL;
    q->ladder = ladder;
    q->decoder =
        codec == SDP_HEVC ? decoder_new_hevc(DECODER_AS_COMES) : decoder_new(DECODER_AS_COMES);
    q->scaler = scaler_new();
    if (q->decoder && q->scaler)
        return q;
    stored_quality_free(q);
    return NULL;
}

void stored_quality_free(struct stored_quality *q)
{
    if (!q)
        return;
    decoder_free(q->decoder);
    scaler_free(q->scaler);
    free(q);
}

static const struct size_spec *largest(const struct ladder *l)
{
    const struct size_spec *size = &l->sizes[0];
    for (int i = 1; i < l->size_count; i++)
        if (l->sizes[i].width > size->width)
            size = &l->sizes[i];
    return size;
}

static struct picture *scaled(struct stored_quality *q, struct picture *p)
{
    const struct size_spec *size = largest(q->ladder);
    return scaler_scaled(q->scaler, p, size->width, size->height);
}

// Returns the place of the base layer's last frame in the first half of the group.
static int sample_of(const struct stored_shape *shape, int size_id)
{
    int sample = 0;
    for (int at = 0; at <= shape->frames / 2; at++) {
        const struct stored_place *place = &shape->places[size_id][at];
        if (place->depends != STORED_NO_FRAME && place->temporal_id == 0)
            sample = at;
    }
    return sample;
}

// Decodes the base layer up to the sample. `coded`: of one size.
static int decode(struct stored_quality *q, const struct stored_shape *shape, int size_id,
                  struct coded_frame *coded[], int sample, struct picture **out)
{
    int err = 0;
    *out = NULL;
    for (int at = 0; at <= sample && !err; at++) {
        const struct stored_place *place = &shape->places[size_id][at];
        if (place->depends == STORED_NO_FRAME || place->temporal_id != 0)
            continue;
        picture_unref(*out);
        *out = NULL;
        err = decoder_decode(q->decoder, coded[at]->data, coded[at]->bytes, at, out);
    }
    return err ? err : *out ? 0 : ERR_MALFORMED;
}

// Returns the mean SSIM of a picture of the level at place `sample` and at those after it at which
// the level has no frame; NaN: no memory.
static double compare(struct stored_quality *q, const struct stored_shape *shape,
                      const struct level *level, struct picture *const pictures[], int sample,
                      const struct picture *shown)
{
    double sum = 0;
    int count = 0;
    for (int at = sample; at < shape->frames && count < MAX_SEEN; at++, count++) {
        const struct stored_place *place = &shape->places[level->size_id][at];
        bool has_frame =
            place->depends != STORED_NO_FRAME && place->temporal_id <= level->temporal_id;
        if (at > sample && has_frame)
            break;
        if (!q->source[at] && !(q->source[at] = scaled(q, pictures[at])))
            return NAN;
        sum += quality_ssim_y(shown, q->source[at]);
    }
    return sum / count;
}

static int measure_size(struct stored_quality *q, const struct stored_shape *shape,
                        struct picture *const pictures[], struct coded_frame *coded[], int size_id,
                        double ssim[LADDER_MAX_LEVELS])
{
    const struct ladder *l = q->ladder;
    struct picture *decoded, *shown = NULL;
    int sample = sample_of(shape, size_id);
    int err = decode(q, shape, size_id, coded, sample, &decoded);
    if (!err && !(shown = scaled(q, decoded)))
        err = ERR_NO_MEMORY;
    for (int i = 0; i < l->level_count && !err; i++) {
        if (l->levels[i].size_id != size_id)
            continue;
        ssim[i] = compare(q, shape, &l->levels[i], pictures, sample, shown);
        err = isnan(ssim[i]) ? ERR_NO_MEMORY : 0;
    }
    picture_unref(shown);
    picture_unref(decoded);
    return err;
}

int stored_quality_measure(struct stored_quality *q, const struct stored_shape *shape,
                           struct picture *const pictures[],
                           struct coded_frame *coded[LADDER_MAX_SIZES][STORED_MAX_GOP],
                           double ssim[LADDER_MAX_LEVELS])
{
    int err = 0;
    for (int i = 0; i < q->ladder->level_count; i++)
        ssim[i] = 1;
    for (int size = 0; size < q->ladder->size_count && !err; size++)
        if (!ladder_size_passes(q->ladder, size))
            err = measure_size(q, shape, pictures, coded[size], size, ssim);
    for (int at = 0; at < shape->frames; at++) {
        picture_unref(q->source[at]);
        q->source[at] = NULL;
    }
    return err;
}
