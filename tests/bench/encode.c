// SPDX-License-Identifier: GPL-2.0-or-later
// Encoding time: ms per frame for each size of the default ladder, the share of one core for all
// sizes at the source's 30 frames per second, and the cost of temporal layers compared with one
// layer (plain IPPP) at the same bitrate.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "media/coded/ladder.h"
#include "media/encode/encoder.h"
#include "tests/moving_picture.h"

enum { SECONDS = 5, WARM_UP = 15 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

struct result {
    int frames;
    double ms; // processor time of all frames
    double worst_ms;
    double bits;
};

static struct result run(const struct ladder *l, int size_id, const struct moving_picture *moving)
{
    struct result r = {0};
    const struct size_spec *s = &l->sizes[size_id];
    struct encoder *e = encoder_new(l, size_id);
    struct picture *p = picture_new(s->width, s->height);
    if (!e || !p)
        exit(1);
    for (int64_t n = 0; n < SECONDS * l->source_fps.num / l->source_fps.den; n++) {
        if (size_index_of_frame(s->fps, l->source_fps, n) < 0)
            continue;
        moving_picture_draw(moving, (double)n / fps_value(l->source_fps), 0, n, p);
        p->number = n;
        struct coded_frame *f;
        double start = now_ms();
        if (encoder_encode(e, p, &f) != 0)
            exit(1);
        double took = now_ms() - start;
        r.bits += f ? 8.0 * (double)f->bytes : 0;
        r.frames++;
        r.ms += took;
        if (n >= WARM_UP && took > r.worst_ms)
            r.worst_ms = took;
        coded_frame_unref(f);
    }
    picture_unref(p);
    encoder_free(e);
    return r;
}

// Returns the ladder with the same size and bitrate in one layer.
static struct ladder plain(const struct ladder *l, int size_id)
{
    struct ladder one = *l;
    one.sizes[0] = l->sizes[size_id];
    one.sizes[0].layers = 1;
    one.size_count = 1;
    one.levels[0] = (struct level){.bitrate_bps = ladder_size_bitrate(l, size_id)};
    one.level_count = 1;
    return one;
}

int main(int argc, char **argv)
{
    int layers = argc > 1 ? atoi(argv[1]) : 2;
    struct ladder l;
    if (layers < 1 || ladder_default(1280, 720, (struct fps){30, 1}, layers, NULL, &l) != 0) {
        fprintf(stderr, "usage: bench_encode [LAYERS]\n");
        return 1;
    }
    struct moving_picture *moving = malloc(sizeof(*moving));
    if (!moving)
        return 1;
    moving_picture_init(moving, 1, 2.0);
    double core = 0, plain_core = 0;
    printf("%-10s %5s %8s %9s %9s %10s %7s\n", "size", "fps", "kbit/s", "ms/frame", "worst ms",
           "plain ms", "ratio");
    for (int i = 0; i < l.size_count; i++) {
        struct ladder one = plain(&l, i);
        struct result hier = run(&l, i, moving), flat = run(&one, 0, moving);
        char name[32];
        snprintf(name, sizeof(name), "%dx%d", l.sizes[i].width, l.sizes[i].height);
        printf("%-10s %5.1f %8.0f %9.2f %9.2f %10.2f %7.2f\n", name, fps_value(l.sizes[i].fps),
               hier.bits / 1000 / SECONDS, hier.ms / hier.frames, hier.worst_ms,
               flat.ms / flat.frames, hier.ms / flat.ms);
        core += hier.ms / (1000.0 * SECONDS);
        plain_core += flat.ms / (1000.0 * SECONDS);
    }
    printf("all sizes: %.1f %% of a core; plain %.1f %%; ratio %.2f\n", 100 * core,
           100 * plain_core, core / plain_core);
    free(moving);
    return 0;
}
