// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the level that looks best at a rate. Each level of the default ladder is encoded below or
// above its own rate, decoded, scaled to the source's size, and compared with every frame of the
// source (SSIM, luma); the previous picture takes the place of frames that a level lacks. The min
// rate of a level in stream/adapt/adaptation.c comes from this table. It takes many minutes.
#include <stdio.h>
#include <stdlib.h>

#include "media/coded/ladder.h"
#include "media/decode/decoder.h"
#include "media/encode/encoder.h"
#include "media/picture/quality.h"
#include "media/source/source.h"

enum { WARM_UP = 2, SECONDS = 12, LAYERS = 2 }; // the encoder's rate settles within two seconds

struct run {
    struct encoder *encoder;
    struct decoder *decoder;
    struct scaler *down, *up;
    struct picture *small, *shown;
};

static int open_run(struct run *r, const struct ladder *l, int size_id)
{
    const struct size_spec *s = &l->sizes[size_id];
    *r = (struct run){.encoder = encoder_new(l, size_id),
                      .decoder = decoder_new(DECODER_PLAIN),
                      .down = scaler_new(),
                      .up = scaler_new(),
                      .small = picture_new(s->width, s->height),
                      .shown = picture_new(l->source_width, l->source_height)};
    return r->encoder && r->decoder && r->down && r->up && r->small && r->shown ? 0 : -1;
}

static void close_run(struct run *r)
{
    picture_unref(r->shown);
    picture_unref(r->small);
    scaler_free(r->up);
    scaler_free(r->down);
    decoder_free(r->decoder);
    encoder_free(r->encoder);
}

// Shows the source's frame as the level has it, if it contains it.
static int show(struct run *r, const struct ladder *l, int level, const struct picture *source)
{
    const struct level *to = &l->levels[level];
    if (size_index_of_frame(l->sizes[to->size_id].fps, l->source_fps, source->number) < 0)
        return 0;
    struct coded_frame *f;
    struct picture *decoded;
    scaler_run(r->down, source, r->small);
    r->small->number = source->number;
    int err = encoder_encode(r->encoder, r->small, &f);
    if (err || !f)
        return err;
    if (f->temporal_id <= to->temporal_id &&
        decoder_decode(r->decoder, f->data, f->bytes, f->number, &decoded) == 0) {
        scaler_run(r->up, decoded, r->shown);
        picture_unref(decoded);
    }
    coded_frame_unref(f);
    return 0;
}

// Returns the mean SSIM of a level at `bps`; negative: unknown.
static double ssim_of(const char *name, const struct ladder *l, int level, double bps)
{
    struct run r;
    int err;
    struct source *source = source_open(name, true, &err);
    double sum = 0;
    int count = 0;
    if (!source || open_run(&r, l, l->levels[level].size_id) != 0)
        exit(1);
    int size_id = l->levels[level].size_id;
    double nominal = ladder_size_bitrate(l, size_id);
    encoder_set_bitrate(r.encoder, (int)(nominal * bps / l->levels[level].bitrate_bps));
    int first = (int)(WARM_UP * fps_value(l->source_fps));
    int last = (int)((WARM_UP + SECONDS) * fps_value(l->source_fps));
    for (int n = 0; n < last; n++) {
        struct picture *p;
        if (source->ops->next(source, &p) != 0 || show(&r, l, level, p) != 0)
            exit(1);
        if (n >= first) {
            sum += quality_ssim_y(p, r.shown);
            count++;
        }
        picture_unref(p);
    }
    close_run(&r);
    source_free(source);
    return sum / count;
}

int main(int argc, char **argv)
{
    static const int kbps[] = {56,  80,  100, 120, 160, 200,  240,  280,  320,  400,  480, 560,
                               640, 720, 800, 880, 960, 1040, 1120, 1200, 1344, 1600, 1920};
    const char *name = argc > 1 ? argv[1] : "test:1280x720@30";
    int err;
    struct ladder l;
    struct source *source = source_open(name, true, &err);
    if (!source ||
        ladder_default(source->width, source->height, source->fps, LAYERS, NULL, &l) != 0) {
        fprintf(stderr, "usage: bench_levels [SOURCE]\n");
        return 1;
    }
    source_free(source);
    printf("%s: SSIM of each level at a rate\n%6s", name, "kbit/s");
    for (int level = 0; level < l.level_count; level++) {
        const struct size_spec *s = &l.sizes[l.levels[level].size_id];
        char text[32];
        snprintf(text, sizeof(text), "%dp%.0f", s->height, level_frame_rate(&l, level));
        printf(" %9s", text);
    }
    printf("\n");
    for (size_t i = 0; i < sizeof(kbps) / sizeof(kbps[0]); i++) {
        printf("%6d", kbps[i]);
        for (int level = 0; level < l.level_count; level++) {
            double share = kbps[i] * 1e3 / l.levels[level].bitrate_bps;
            if (share < 0.25 || share > 2)
                printf(" %9s", "");
            else
                printf(" %9.4f", ssim_of(name, &l, level, kbps[i] * 1e3));
            fflush(stdout);
        }
        printf("\n");
    }
    return 0;
}
