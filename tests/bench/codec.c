// SPDX-License-Identifier: GPL-2.0-or-later
// The bits that a stored size needs in HEVC for the picture of H.264: the mean SSIM (luma) of H.264
// as of `weir-send --prepare`, with three temporal layers, at 1000 kbit/s, and the SSIM of HEVC as
// of `weir-send --prepare --codec hevc`, with two, at lower rates. The last line has the rate that
// gives H.264's SSIM, between the two measured ones next to it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "media/decode/decoder.h"
#include "media/picture/quality.h"
#include "media/source/source.h"
#include "media/stored/stored_encoder.h"

enum { MAX_SECONDS = 10, REFERENCE_KBPS = 1000 };

struct clip {
    struct ladder ladder; // of a single size
    struct stored_plan plan;
    int count;
    struct picture **pictures;
};

struct result {
    double kbps;
    double ssim;
    int frames;     // of whole groups, whose length depends on the layers
    double seconds; // processor time
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); // libx265 has threads of its own
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void set_layers(struct clip *c, int layers, int kbps)
{
    c->ladder.sizes[0].layers = layers;
    c->ladder.levels[0] = (struct level){0, layers - 1, kbps * 1000};
    if (stored_plan_init(&c->plan, &c->ladder) != 0)
        exit(1);
}

static int read_clip(struct clip *c, const char *name, int max_seconds)
{
    int err;
    struct source *s = source_open(name, false, &err);
    if (!s)
        return -1;
    c->ladder = (struct ladder){.source_fps = s->fps,
                                .source_width = s->width,
                                .source_height = s->height,
                                .size_count = 1,
                                .sizes = {{s->width, s->height, s->fps, 3}},
                                .level_count = 1};
    set_layers(c, 3, REFERENCE_KBPS);
    int most = (int)(max_seconds * fps_value(s->fps));
    c->pictures = calloc((size_t)most + 1, sizeof(struct picture *));
    while (c->pictures && c->count < most && s->ops->next(s, &c->pictures[c->count]) == 0)
        c->count++;
    source_free(s);
    return c->count >= c->plan.gop ? 0 : -1;
}

static struct result run(struct clip *c, enum sdp_codec codec, int kbps)
{
    struct result r = {0};
    struct stored_rate rate;
    set_layers(c, codec == SDP_HEVC ? 2 : 3, kbps);
    struct stored_encoder *e = stored_encoder_new(&c->ladder, 0, &c->plan, codec);
    struct decoder *d =
        codec == SDP_HEVC ? decoder_new_hevc(DECODER_AS_COMES) : decoder_new(DECODER_AS_COMES);
    const struct stored_shape *shape = &c->plan.full;
    struct coded_frame *out[STORED_MAX_GOP];
    if (!e || !d)
        exit(1);
    stored_rate_init(&rate, &c->ladder, 0);
    for (int at = 0; at + c->plan.gop <= c->count; at += c->plan.gop) {
        double began = now();
        if (stored_encoder_run(e, &rate, shape, c->pictures + at, out) != 0)
            exit(1);
        r.seconds += now() - began;
        for (int slot = 0; slot < shape->frames; slot++) {
            int place = shape->decoded[0][slot];
            const struct picture *from = c->pictures[at + place];
            struct picture *p;
            if (decoder_decode(d, out[place]->data, out[place]->bytes, from->number, &p) != 0)
                exit(1);
            r.kbps += 8.0 * (double)out[place]->bytes / 1000;
            r.ssim += quality_ssim_y(from, p);
            r.frames++;
            picture_unref(p);
            coded_frame_unref(out[place]);
        }
    }
    r.kbps /= r.frames / fps_value(c->ladder.source_fps);
    r.ssim /= r.frames;
    decoder_free(d);
    stored_encoder_free(e);
    return r;
}

static void print(const char *name, const struct result *r)
{
    printf("%-6s %7.0f kbit/s   SSIM %.4f %9.1f frames/s\n", name, r->kbps, r->ssim,
           r->frames / r->seconds);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const int kbps[] = {400, 500, 600, 700, 850, 1000};
    const char *name = argc > 1 ? argv[1] : "test:640x360@30";
    int seconds = argc > 2 ? atoi(argv[2]) : MAX_SECONDS;
    struct clip c = {0};
    if (seconds < 2 || read_clip(&c, name, seconds) != 0) {
        fprintf(stderr, "usage: bench_codec [SOURCE [SECONDS]], 2 s at least\n");
        return 1;
    }
    printf("%s: %dx%d, %.1f s\n", name, c.ladder.source_width, c.ladder.source_height,
           c.count / fps_value(c.ladder.source_fps));
    struct result reference = run(&c, SDP_H264, REFERENCE_KBPS), below = {0};
    double found = NAN;
    print("H.264", &reference);
    for (size_t i = 0; i < sizeof(kbps) / sizeof(kbps[0]) && isnan(found); i++) {
        struct result r = run(&c, SDP_HEVC, kbps[i]);
        print("HEVC", &r);
        if (r.ssim >= reference.ssim)
            found = i == 0 ? r.kbps
                           : below.kbps + (r.kbps - below.kbps) * (reference.ssim - below.ssim) /
                                              (r.ssim - below.ssim);
        below = r;
    }
    if (isnan(found))
        printf("HEVC has a lower SSIM than H.264 at each rate\n");
    else
        printf("HEVC has H.264's SSIM at %.0f kbit/s, %.0f %% of its bits\n", found,
               100 * found / reference.kbps);
    for (int n = 0; n < c.count; n++)
        picture_unref(c.pictures[n]);
    free(c.pictures);
    return 0;
}
