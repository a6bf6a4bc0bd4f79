// SPDX-License-Identifier: GPL-2.0-or-later
// A program that sends and watches in one process, and opens and closes senders: prints what it
// sees, a line each.
//
//   library_both watch       a viewer of a sender's pushed pictures, until 30 came
//   library_both again       20 senders, one after the other
//   library_both two         two senders at the same address; the second one is refused
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weir.h>

enum { WIDTH = 320, HEIGHT = 180, FPS = 30, SAMPLES = WEIR_AUDIO_RATE / FPS };

struct watcher {
    atomic_int pictures;
    atomic_int loud; // samples
    atomic_int bad;  // pictures of another size, or without a time
    atomic_bool ended;
};

static void on_picture(void *ctx, const struct weir_picture *p)
{
    struct watcher *w = ctx;
    if (p->width != WIDTH || p->height != HEIGHT || !p->captured)
        w->bad++;
    w->pictures++;
}

static void on_audio(void *ctx, const int16_t *samples, int frames)
{
    struct watcher *w = ctx;
    for (int i = 0; i < 2 * frames; i++)
        if (samples[i] > 2000)
            w->loud++;
}

static void on_end(void *ctx, enum weir_end end, const char *why)
{
    (void)end, (void)why;
    ((struct watcher *)ctx)->ended = true;
}

static struct weir_sender *open_sender(const char *const *options)
{
    struct weir_sender_config config = {.size = sizeof(config),
                                        .width = WIDTH,
                                        .height = HEIGHT,
                                        .fps_num = FPS,
                                        .fps_den = 1,
                                        .has_audio = 1,
                                        .options = options};
    char error[512];
    struct weir_sender *s = weir_sender_open(&config, error, sizeof(error));
    if (!s)
        printf("error: %s\n", error);
    return s;
}

static void push(struct weir_sender *s, int frame)
{
    static uint8_t planes[WIDTH * HEIGHT];
    static int16_t samples[2 * SAMPLES];
    memset(planes, 60 + frame % 100, sizeof(planes));
    for (int i = 0; i < SAMPLES; i++)
        samples[2 * i] = samples[2 * i + 1] = i % 96 < 48 ? 6000 : -6000; // 500 Hz
    struct weir_picture p = {WIDTH, HEIGHT, {planes, planes, planes}, {WIDTH, WIDTH / 2, WIDTH / 2},
                             0,     0};
    weir_sender_push_picture(s, &p);
    weir_sender_push_audio(s, samples, SAMPLES, 0);
}

static int watch(const char *const *options)
{
    struct watcher w = {0};
    char error[512];
    struct weir_sender *s = open_sender(options);
    if (!s)
        return EXIT_FAILURE;
    struct weir_viewer_config config = {.size = sizeof(config),
                                        .url = weir_sender_url(s),
                                        .on_picture = on_picture,
                                        .on_audio = on_audio,
                                        .on_end = on_end,
                                        .ctx = &w};
    struct weir_viewer *v = weir_viewer_open(&config, error, sizeof(error));
    if (!v)
        printf("error: %s\n", error);
    for (int frame = 0; v && !w.ended && (w.pictures < 30 || w.loud < 10000) && frame < 6000;
         frame++) {
        push(s, frame);
        nanosleep(&(struct timespec){.tv_nsec = 1000000000 / FPS}, NULL);
    }
    printf("pictures %d loud %d bad %d\n", w.pictures >= 30, w.loud >= 10000, w.bad);
    free(weir_viewer_close(v));
    weir_sender_close(s);
    return EXIT_SUCCESS;
}

static int again(const char *const *options)
{
    for (int i = 0; i < 20; i++) {
        struct weir_sender *s = open_sender(options);
        if (!s)
            return EXIT_FAILURE;
        push(s, i);
        char *stats = NULL; // one call waits for two seconds only
        for (int tries = 0; tries < 30 && !stats; tries++)
            stats = weir_sender_stats(s);
        if (!stats)
            printf("no stats\n");
        free(stats);
        weir_sender_close(s);
    }
    printf("20 senders\n");
    return EXIT_SUCCESS;
}

static int two(const char *const *options)
{
    struct weir_sender *first = open_sender(options);
    if (!first)
        return EXIT_FAILURE;
    struct weir_sender *second = open_sender(options);
    printf("second: %s\n", second ? "open" : "refused");
    weir_sender_close(second);
    weir_sender_close(first);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *task = argc > 1 ? argv[1] : "";
    const char *const *options = (const char *const *)(argv + (argc > 1 ? 2 : argc));
    return strcmp(task, "watch") == 0   ? watch(options)
           : strcmp(task, "again") == 0 ? again(options)
           : strcmp(task, "two") == 0   ? two(options)
                                        : EXIT_FAILURE;
}
