// SPDX-License-Identifier: GPL-2.0-or-later
// Cost and quality of a stored size: encoded as by `weir-send --prepare` and as live media, at
// several rates, with the mean SSIM (luma) of the decoded pictures and the frames per second that
// one thread encodes. Both have three temporal layers. The source is cut to whole groups.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "media/decode/decoder.h"
#include "media/encode/encoder.h"
#include "media/picture/quality.h"
#include "media/source/source.h"
#include "media/stored/stored_encoder.h"

enum { LAYERS = 3, MAX_SECONDS = 10 };

struct clip {
    struct ladder ladder; // of a single size
    struct stored_plan plan;
    int count; // whole groups only
    struct picture **pictures;
};

struct result {
    double bits;
    double ssim;
    double seconds; // processor time
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int read_clip(struct clip *c, const char *name)
{
    int err;
    struct source *s = source_open(name, false, &err);
    if (!s)
        return -1;
    c->ladder = (struct ladder){.source_fps = s->fps,
                                .source_width = s->width,
                                .source_height = s->height,
                                .size_count = 1,
                                .sizes = {{s->width, s->height, s->fps, LAYERS}},
                                .level_count = 1,
                                .levels = {{0, LAYERS - 1, 1000000}}};
    int most = (int)(MAX_SECONDS * fps_value(s->fps));
    c->pictures = calloc((size_t)most, sizeof(struct picture *));
    if (!c->pictures || stored_plan_init(&c->plan, &c->ladder) != 0)
        return -1;
    while (c->count < most && s->ops->next(s, &c->pictures[c->count]) == 0)
        c->count++;
    c->count -= c->count % c->plan.gop;
    source_free(s);
    return c->count ? 0 : -1;
}

static void add(struct result *r, struct decoder *d, const struct picture *from,
                const struct coded_frame *f)
{
    struct picture *p;
    if (decoder_decode(d, f->data, f->bytes, from->number, &p) != 0)
        exit(1);
    r->bits += 8.0 * (double)f->bytes;
    r->ssim += quality_ssim_y(from, p);
    picture_unref(p);
}

static struct result run_stored(const struct clip *c)
{
    struct result r = {0};
    struct stored_rate rate;
    struct stored_encoder *e = stored_encoder_new(&c->ladder, 0, &c->plan, SDP_H264);
    struct decoder *d = decoder_new(DECODER_AS_COMES);
    const struct stored_shape *shape = &c->plan.full;
    struct coded_frame *out[STORED_MAX_GOP];
    if (!e || !d)
        exit(1);
    stored_rate_init(&rate, &c->ladder, 0);
    for (int at = 0; at < c->count; at += c->plan.gop) {
        double began = now();
        if (stored_encoder_run(e, &rate, shape, c->pictures + at, out) != 0)
            exit(1);
        r.seconds += now() - began;
        for (int slot = 0; slot < shape->frames; slot++) {
            int place = shape->decoded[0][slot];
            add(&r, d, c->pictures[at + place], out[place]);
            coded_frame_unref(out[place]);
        }
    }
    decoder_free(d);
    stored_encoder_free(e);
    return r;
}

static struct result run_live(const struct clip *c)
{
    struct result r = {0};
    struct encoder *e = encoder_new(&c->ladder, 0);
    struct decoder *d = decoder_new(DECODER_PLAIN);
    if (!e || !d)
        exit(1);
    for (int n = 0; n < c->count; n++) {
        struct coded_frame *f;
        double began = now();
        if (n % c->plan.gop == 0)
            encoder_request_key(e, -1);
        if (encoder_encode(e, c->pictures[n], &f) != 0 || !f)
            exit(1);
        r.seconds += now() - began;
        add(&r, d, c->pictures[n], f);
        coded_frame_unref(f);
    }
    decoder_free(d);
    encoder_free(e);
    return r;
}

int main(int argc, char **argv)
{
    static const int kbps[] = {250, 350, 500, 700, 1000, 1400, 2000};
    const char *name = argc > 1 ? argv[1] : "test:1280x720@30";
    struct clip c = {0};
    if (read_clip(&c, name) != 0) {
        fprintf(stderr, "usage: bench_stored [SOURCE], of 2 s at least\n");
        return 1;
    }
    double seconds = c.count / fps_value(c.ladder.source_fps);
    printf("%s: %dx%d, %.1f s\n", name, c.ladder.source_width, c.ladder.source_height, seconds);
    printf("%8s | %7s %7s %9s | %7s %7s %9s\n", "kbit/s", "stored", "SSIM", "frames/s", "live",
           "SSIM", "frames/s");
    for (size_t i = 0; i < sizeof(kbps) / sizeof(kbps[0]); i++) {
        c.ladder.levels[0].bitrate_bps = kbps[i] * 1000;
        struct result r[] = {run_stored(&c), run_live(&c)};
        printf("%8d", kbps[i]);
        for (int k = 0; k < 2; k++)
            printf(" | %7.0f %7.4f %9.1f", r[k].bits / seconds / 1000, r[k].ssim / c.count,
                   c.count / r[k].seconds);
        printf("\n");
        fflush(stdout);
    }
    for (int n = 0; n < c.count; n++)
        picture_unref(c.pictures[n]);
    free(c.pictures);
    return 0;
}
