// SPDX-License-Identifier: GPL-2.0-or-later
// Sends a moving picture with a frame counter, and a tone, until Ctrl-C:
//
//   cc send.c $(pkg-config --cflags --libs weir) -o send && ./send [OPTION OF weir-send]...
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weir.h>

enum { WIDTH = 640, HEIGHT = 360, FPS = 30, SAMPLES = WEIR_AUDIO_RATE / FPS, CELL = 20 };

static volatile sig_atomic_t stopped;

static void on_interrupt(int number)
{
    (void)number;
    stopped = 1;
}

static void fill(uint8_t *luma, int x, int y, int side, uint8_t value)
{
    for (int row = y; row < y + side; row++)
        memset(luma + row * WIDTH + x, value, (size_t)side);
}

// A square wanders from left to right; the cells at the top are the frame's number in binary.
static void draw(uint8_t *luma, long frame)
{
    for (int y = 0; y < HEIGHT; y++)
        memset(luma + y * WIDTH, 40 + y / 4, WIDTH);
    for (int bit = 0; bit < 24; bit++)
        fill(luma, CELL + (23 - bit) * (CELL + 4), CELL, CELL, frame >> bit & 1 ? 235 : 16);
    fill(luma, (int)(frame * 4 % (WIDTH - 80)), 160, 80, 200);
}

// A triangle wave of 480 Hz.
static void tone(int16_t *samples, long first)
{
    for (int i = 0; i < SAMPLES; i++) {
        int phase = (int)((first + i) % 100);
        samples[2 * i] = samples[2 * i + 1] =
            (int16_t)(240 * (phase < 50 ? phase - 25 : 75 - phase));
    }
}

// The stats are JSON; a program that wants more than a number reads it with a parser.
static int viewers(struct weir_sender *sender)
{
    int count = 0;
    char *json = weir_sender_stats(sender);
    for (const char *at = json; at && (at = strstr(at, "\"address\":")); at++)
        count++;
    free(json);
    return count;
}

int main(int argc, char **argv)
{
    static uint8_t luma[WIDTH * HEIGHT], chroma[WIDTH / 2 * HEIGHT / 2];
    static int16_t samples[SAMPLES * WEIR_AUDIO_CHANNELS];
    struct weir_picture picture = {
        WIDTH, HEIGHT, {luma, chroma, chroma}, {WIDTH, WIDTH / 2, WIDTH / 2}, 0, 0};
    struct weir_sender_config config = {.size = sizeof(config),
                                        .width = WIDTH,
                                        .height = HEIGHT,
                                        .fps_num = FPS,
                                        .fps_den = 1,
                                        .has_audio = 1,
                                        .options = (const char *const *)(argv + (argc > 0))};
    char error[256];
    struct weir_sender *sender = weir_sender_open(&config, error, sizeof(error));
    if (!sender) {
        fprintf(stderr, "%s\n", error);
        return EXIT_FAILURE;
    }
    printf("%s\n", weir_sender_url(sender));
    memset(chroma, 128, sizeof(chroma));
    signal(SIGINT, on_interrupt);
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (long frame = 0; !stopped; frame++) {
        draw(luma, frame);
        weir_sender_push_picture(sender, &picture);
        tone(samples, frame * SAMPLES);
        weir_sender_push_audio(sender, samples, SAMPLES, 0);
        if (frame % FPS == 0 && printf("viewers: %d\n", viewers(sender)) > 0)
            fflush(stdout);
        due.tv_nsec += 1000000000 / FPS;
        due.tv_sec += due.tv_nsec / 1000000000;
        due.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
    }
    weir_sender_close(sender);
    return EXIT_SUCCESS;
}
