// SPDX-License-Identifier: GPL-2.0-or-later
// Compares VP9 SVC with simulcast for the same pictures: one encoder of three sizes by three
// temporal layers, and three x264 encoders of three layers whose levels have the same bitrates.
// Prints, for each level, the bits that a viewer receives and SSIM (luma, at the source's size,
// compared with each source frame; the previous picture takes the place of frames that a level
// lacks); then all bits and processor time; then what a switch to the largest size costs; then how
// fast the top level's bits follow when half of its rate is requested.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "media/coded/ladder.h"
#include "media/convert/convert.h"
#include "media/decode/decoder.h"
#include "media/encode/encoder.h"
#include "media/encode/video_encoder.h"
#include "media/encode/vp9_encoder.h"
#include "media/picture/quality.h"
#include "media/source/source.h"
#include "tests/moving_picture.h"

enum {
    SIZES = VP9_MAX_SIZES,
    WARM_UP = 60, // frames; the rates settle
    FRAMES = 360,
    COMPARED = 5,      // every so many frames, which is no multiple of the layers' period
    SWITCH_EVERY = 37, // frames
    STEP_AT = 150,     // frames at the whole rate
    STEP_PART = 15,    // frames of a printed part after it
    STEP_PARTS = 6,
};

struct side { // one of the two contenders
    const char *name;
    struct decoder *decoders[SIZES];
    struct picture *shown[SIZES][VP9_MAX_LAYERS];
    double bits[SIZES][VP9_MAX_LAYERS]; // of one size and temporal id
    double ssim[SIZES][VP9_MAX_LAYERS];
    double encode_ms, decode_ms[SIZES];
    int compared;
    int switches, waited, t0_frames; // frames between a request and the switch
    double switch_bytes, t0_bytes;   // of the largest size; of frames without a request
};

struct pictures { // from a source, or drawn
    struct source *source;
    struct moving_picture *moving;
    int width, height;
    struct fps fps;
};

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void *checked(void *p)
{
    if (!p)
        exit(1);
    return p;
}

static struct picture *next_picture(const struct pictures *from, int64_t number)
{
    struct picture *p;
    if (from->source) {
        if (from->source->ops->next(from->source, &p) != 0)
            exit(1);
        return p;
    }
    p = checked(picture_new(from->width, from->height));
    moving_picture_draw(from->moving, (double)number / fps_value(from->fps), 0, number, p);
    p->number = number;
    return p;
}

// Decodes the frame, and shows it at each level that has it.
static void receive(struct side *side, int decoder, const struct coded_frame *f, bool counts)
{
    int s = f->size_id;
    struct picture *p;
    double start = cpu_ms();
    if (decoder_decode(side->decoders[decoder], f->data, f->bytes, f->number, &p) != 0)
        exit(1);
    double took = cpu_ms() - start;
    for (int t = f->temporal_id; t < VP9_MAX_LAYERS; t++) {
        picture_unref(side->shown[s][t]);
        side->shown[s][t] = picture_ref(p);
    }
    picture_unref(p);
    if (!counts)
        return;
    side->bits[s][f->temporal_id] += 8.0 * (double)f->bytes;
    side->decode_ms[s] += took;
}

static void compare(struct side *side, const struct picture *source, struct scaler *up,
                    struct picture *big)
{
    for (int s = 0; s < SIZES; s++)
        for (int t = 0; t < VP9_MAX_LAYERS; t++) {
            scaler_run(up, side->shown[s][t], big);
            side->ssim[s][t] += quality_ssim_y(source, big);
        }
    side->compared++;
}

static void note_switch(struct side *side, const struct coded_frame *f, int64_t *requested)
{
    if (f->temporal_id > 0)
        return;
    if (*requested < 0) {
        side->t0_frames++;
        side->t0_bytes += (double)f->bytes;
        return;
    }
    side->switches++;
    side->waited += (int)(f->number - *requested);
    side->switch_bytes += (double)f->bytes;
    *requested = -1;
}

// Encodes and decodes all pictures with both. With `switches`, a switch to the largest size is
// requested all the time, and only that is measured.
static void run(const struct pictures *from, const struct ladder *l, struct side *vp9,
                struct side *x264, bool switches)
{
    struct vp9_encoder *svc = checked(vp9_encoder_new(l));
    struct encoder *encoders[SIZES];
    struct scaler *down = checked(scaler_new()), *up = checked(scaler_new());
    struct picture *small[SIZES];
    struct picture *big = checked(picture_new(from->width, from->height));
    int64_t asked[2] = {-1, -1};
    for (int s = 0; s < SIZES; s++) {
        encoders[s] = checked(encoder_new(l, s));
        small[s] = checked(picture_new(l->sizes[s].width, l->sizes[s].height));
        x264->decoders[s] = checked(decoder_new(DECODER_PLAIN));
    }
    vp9->decoders[0] = checked(decoder_new_vp9());
    for (int64_t n = 0; n < FRAMES; n++) {
        struct picture *p = next_picture(from, n);
        bool counts = n >= WARM_UP && !switches;
        struct coded_frame *pieces[SIZES], *f;
        if (switches && n >= WARM_UP && n % SWITCH_EVERY == 0) {
            vp9_encoder_sync(svc, SIZES - 1, -1);
            encoder_request_key(encoders[SIZES - 1], -1);
            asked[0] = asked[1] = n;
        }
        double start = cpu_ms();
        if (vp9_encoder_encode(svc, p, pieces) != 0)
            exit(1);
        vp9->encode_ms += counts ? cpu_ms() - start : 0;
        for (int s = 0; s < SIZES; s++) {
            receive(vp9, 0, pieces[s], counts);
            if (s == SIZES - 1 && n >= WARM_UP && switches)
                note_switch(vp9, pieces[s], &asked[0]);
            coded_frame_unref(pieces[s]);
        }
        for (int s = 0; s < SIZES; s++) {
            start = cpu_ms();
            scaler_run(down, p, small[s]); // libvpx scales by itself
            small[s]->number = n;
            if (encoder_encode(encoders[s], small[s], &f) != 0 || !f)
                exit(1);
            x264->encode_ms += counts ? cpu_ms() - start : 0;
            receive(x264, s, f, counts);
            if (s == SIZES - 1 && n >= WARM_UP && switches)
                note_switch(x264, f, &asked[1]);
            coded_frame_unref(f);
        }
        if (counts && n % COMPARED == 0) {
            compare(vp9, p, up, big);
            compare(x264, p, up, big);
        }
        picture_unref(p);
    }
    for (int s = 0; s < SIZES; s++) {
        encoder_free(encoders[s]);
        picture_unref(small[s]);
        decoder_free(x264->decoders[s]);
    }
    decoder_free(vp9->decoders[0]);
    vp9_encoder_free(svc);
    scaler_free(down);
    scaler_free(up);
    picture_unref(big);
}

// Adds the bits that follow a request of half the rate, a part each. The request is made as
// weir-send makes it for one viewer of the top level.
static void run_step(const struct pictures *from, const struct ladder *l, struct video_encoder *e,
                     double bits[STEP_PARTS])
{
    int top = l->size_count - 1;
    for (int64_t n = 0; n < STEP_AT + STEP_PART * STEP_PARTS; n++) {
        struct picture *p = next_picture(from, n);
        struct coded_frame *out[VIDEO_ENCODER_MAX_SIZES] = {NULL};
        p->number = n;
        if (n == STEP_AT)
            e->ops->set_bitrate(e, top, ladder_size_bitrate(l, top) / 2);
        if (e->ops->encode(e, p, out) != 0)
            exit(1);
        for (int i = 0; i < e->size_count; i++) {
            if (n >= STEP_AT && out[i])
                bits[(n - STEP_AT) / STEP_PART] += 8.0 * (double)out[i]->bytes;
            coded_frame_unref(out[i]);
        }
        picture_unref(p);
    }
    e->ops->free(e);
}

static void print_step(const struct ladder *l, const char *name, const double bits[STEP_PARTS])
{
    double part =
        ladder_size_bitrate(l, l->size_count - 1) / 2.0 * STEP_PART / fps_value(l->source_fps);
    printf("  %-15s", name);
    for (int i = 0; i < STEP_PARTS; i++)
        printf(" %5.2f", bits[i] / part);
    printf("\n");
}

// Returns the kbit/s of a level. VP9's has all smaller sizes.
static double kbps(const struct side *side, int size_id, int temporal_id, bool cumulative,
                   double seconds)
{
    double bits = 0;
    for (int s = cumulative ? 0 : size_id; s <= size_id; s++)
        for (int t = 0; t <= temporal_id; t++)
            bits += side->bits[s][t];
    return bits / seconds / 1e3;
}

static void print(const struct ladder *l, const struct side *vp9, const struct side *x264)
{
    double rate = fps_value(l->source_fps), seconds = (FRAMES - WARM_UP) / rate;
    int top = SIZES - 1, all = VP9_MAX_LAYERS - 1;
    printf("%-14s %8s | %-17s | %-17s\n%-14s %8s | %8s %8s | %8s %8s\n", "", "target", "VP9 SVC",
           "x264 simulcast", "level", "kbit/s", "kbit/s", "SSIM", "kbit/s", "SSIM");
    for (int i = 0; i < l->level_count; i++) {
        int s = l->levels[i].size_id, t = l->levels[i].temporal_id;
        char name[32];
        snprintf(name, sizeof(name), "%dx%d@%g", l->sizes[s].width, l->sizes[s].height,
                 level_frame_rate(l, i));
        printf("%-14s %8d | %8.0f %8.4f | %8.0f %8.4f\n", name, l->levels[i].bitrate_bps / 1000,
               kbps(vp9, s, t, true, seconds), vp9->ssim[s][t] / vp9->compared,
               kbps(x264, s, t, false, seconds), x264->ssim[s][t] / x264->compared);
    }
    double simulcast = 0;
    for (int s = 0; s < SIZES; s++)
        simulcast += kbps(x264, s, all, false, seconds);
    double cumulative = kbps(vp9, top, all, true, seconds);
    printf("%-23s | %17.0f | %17.0f  ratio %.2f\n", "all sizes, kbit/s", cumulative, simulcast,
           cumulative / simulcast);
    int frames = FRAMES - WARM_UP;
    printf("%-23s | %17.2f | %17.2f  ratio %.2f\n", "encoding, CPU ms/frame",
           vp9->encode_ms / frames, x264->encode_ms / frames, vp9->encode_ms / x264->encode_ms);
    double decode = 0;
    for (int s = 0; s < SIZES; s++)
        decode += vp9->decode_ms[s];
    printf("%-23s | %17.2f | %17.2f  ratio %.2f\n", "decoding the top level", decode / frames,
           x264->decode_ms[top] / frames, decode / x264->decode_ms[top]);
    const struct side *sides[] = {vp9, x264};
    printf("switching up to %dx%d at its bitrate, mean of %d:\n", l->sizes[top].width,
           l->sizes[top].height, vp9->switches);
    for (int i = 0; i < 2; i++) {
        const struct side *side = sides[i];
        double bytes = side->switch_bytes / side->switches;
        double sends = 8.0 * bytes * 1e3 / l->levels[l->level_count - 1].bitrate_bps;
        double waits = side->waited / rate * 1e3 / side->switches;
        printf("  %-15s waits %3.0f ms for a T0 frame, sends %6.0f bytes (other T0: %6.0f) in "
               "%4.0f ms: %4.0f ms\n",
               side->name, waits, bytes, side->t0_bytes / side->t0_frames, sends, waits + sends);
    }
}

int main(int argc, char **argv)
{
    int err, bitrate = (argc > 1 ? atoi(argv[1]) : 2000) * 1000;
    struct pictures from = {.width = 1280, .height = 720, .fps = {30, 1}};
    if (argc > 2) {
        from.source = checked(source_open(argv[2], true, &err));
        from.width = from.source->width;
        from.height = from.source->height;
        from.fps = from.source->fps;
    } else {
        from.moving = checked(malloc(sizeof(*from.moving)));
        moving_picture_init(from.moving, 1, 2.0);
    }
    struct ladder l;
    if (ladder_cumulative(from.width, from.height, from.fps, bitrate, &l) != 0 ||
        fps_value(l.sizes[0].fps) != fps_value(from.fps)) {
        fprintf(stderr, "usage: bench_svc [KBPS [SOURCE]] (at most 30 frames per second)\n");
        return 1;
    }
    struct side vp9 = {.name = "VP9 SVC"}, x264 = {.name = "x264 simulcast"};
    run(&from, &l, &vp9, &x264, false);
    if (from.source) { // from its beginning again
        source_free(from.source);
        from.source = checked(source_open(argv[2], true, &err));
    }
    run(&from, &l, &vp9, &x264, true);
    print(&l, &vp9, &x264);
    double steps[2][STEP_PARTS] = {{0}};
    for (int i = 0; i < 2; i++) {
        if (from.source) {
            source_free(from.source);
            from.source = checked(source_open(argv[2], true, &err));
        }
        run_step(
            &from, &l,
            checked(i == 0 ? video_encoder_new_vp9(&l) : video_encoder_new_h264(&l, SIZES - 1)),
            steps[i]);
    }
    printf("bits of the top level / half of its rate, in parts of %d frames after the request:\n",
           STEP_PART);
    print_step(&l, vp9.name, steps[0]);
    print_step(&l, x264.name, steps[1]);
    for (int s = 0; s < SIZES; s++)
        for (int t = 0; t < VP9_MAX_LAYERS; t++) {
            picture_unref(vp9.shown[s][t]);
            picture_unref(x264.shown[s][t]);
        }
    if (from.source)
        source_free(from.source);
    free(from.moving);
    return 0;
}
