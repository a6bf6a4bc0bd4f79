// SPDX-License-Identifier: GPL-2.0-or-later
// Watches a stream: a line each second, and at the end the last picture as a PGM file.
//
//   cc watch.c -o watch $(pkg-config --cflags --libs weir)
//   ./watch URL last.pgm [OPTION of weir-play]...
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weir.h>

static struct {
    pthread_mutex_t lock; // guards the members: a viewer has threads of its own
    pthread_cond_t changed;
    int ended;
    int64_t pictures, samples; // so far
    int64_t number, age;       // of the last picture; age: ms since it was captured, -1: unknown
    int width, height;         // of the last picture
    unsigned char *luma;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void on_picture(void *ctx, const struct weir_picture *p)
{
    (void)ctx;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    size_t row = (size_t)p->width;
    pthread_mutex_lock(&seen.lock);
    // The size changes with the level.
    unsigned char *luma = realloc(seen.luma, row * (size_t)p->height);
    if (!luma)
        abort();
    for (int y = 0; y < p->height; y++)
        memcpy(luma + (size_t)y * row, p->plane[0] + (ptrdiff_t)y * p->stride[0], row);
    seen.luma = luma;
    seen.width = p->width;
    seen.height = p->height;
    seen.pictures++;
    seen.number = p->number;
    seen.age = -1; // a sender that is not Weir's may not say when
    if (p->captured)
        seen.age = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - p->captured / 1000;
    pthread_mutex_unlock(&seen.lock);
}

static void on_audio(void *ctx, const int16_t *samples, int frames)
{
    (void)ctx, (void)samples; // a player would play them
    pthread_mutex_lock(&seen.lock);
    seen.samples += frames;
    pthread_mutex_unlock(&seen.lock);
}

static void on_event(void *ctx, const char *json)
{
    (void)ctx;
    if (strstr(json, "\"event\":\"level\""))
        printf("%s\n", json);
}

static void on_end(void *ctx, enum weir_end end, const char *why)
{
    (void)ctx;
    static const char *const ends[] = {"closed",      "end of media", "duration", "refused",
                                       "server lost", "undecodable",  "error"};
    printf("ended: %s%s%s\n", ends[end], *why ? ": " : "", why);
    pthread_mutex_lock(&seen.lock);
    seen.ended = 1;
    pthread_cond_signal(&seen.changed);
    pthread_mutex_unlock(&seen.lock);
}

static void write_last(const char *name)
{
    FILE *file = seen.luma ? fopen(name, "wb") : NULL;
    if (!file)
        return;
    fprintf(file, "P5\n# frame %" PRId64 "\n%d %d\n255\n", seen.number, seen.width, seen.height);
    fwrite(seen.luma, 1, (size_t)seen.width * (size_t)seen.height, file);
    fclose(file);
}

int main(int argc, char **argv)
{
    char error[512];
    if (argc < 3) {
        fprintf(stderr, "usage: %s URL LAST.pgm [OPTION of weir-play]...\n", argv[0]);
        return 2;
    }
    struct weir_viewer_config config = {.size = sizeof(config),
                                        .url = argv[1],
                                        .options = (const char *const *)(argv + 3),
                                        .on_picture = on_picture,
                                        .on_audio = on_audio,
                                        .on_event = on_event,
                                        .on_end = on_end};
    struct weir_viewer *viewer = weir_viewer_open(&config, error, sizeof(error));
    if (!viewer) {
        fprintf(stderr, "%s: %s\n", argv[0], error);
        return 2;
    }
    pthread_mutex_lock(&seen.lock);
    while (!seen.ended) {
        struct timespec next;
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_sec++;
        pthread_cond_timedwait(&seen.changed, &seen.lock, &next);
        printf("pictures %" PRId64 ", last %" PRId64 " of %dx%d, %" PRId64
               " ms after its capture; audio %" PRId64 " ms\n",
               seen.pictures, seen.number, seen.width, seen.height, seen.age, seen.samples / 48);
        fflush(stdout);
    }
    pthread_mutex_unlock(&seen.lock);
    char *report = weir_viewer_close(viewer);
    printf("%s", report ? report : "");
    write_last(argv[2]);
    free(report);
    free(seen.luma);
    return 0;
}
