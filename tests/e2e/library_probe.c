// SPDX-License-Identifier: GPL-2.0-or-later
// A program of libweir with several viewers, driven by lines on its standard input. It prints a
// line for each thing that happens to viewer N, from 0:
//
//   open URL [OPTION]...   opened N | error TEXT
//   pause N, resume N, seek N SECONDS, level N LEVEL
//   close N                closed N REPORT (on one line)
//   cycle COUNT URL        opens and closes a viewer so often: cycled COUNT
//
//   picture N NUMBER WIDTH HEIGHT CAPTURED SUM; audio N FRAMES LOUDEST; event N JSON; end N END WHY
//
// At the end of the input it ends without closing what is open.
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir.h>

enum { VIEWERS = 8, WORDS = 32 };

struct probe {
    int number;
    struct weir_viewer *viewer;
    int ended; // times
};
static struct probe probes[VIEWERS];

static void on_picture(void *ctx, const struct weir_picture *p)
{
    const struct probe *probe = ctx;
    unsigned sum = 0; // reads each byte of the picture
    for (int i = 0; i < 3; i++)
        for (int y = 0; y < (i ? p->height / 2 : p->height); y++)
            for (int x = 0; x < (i ? p->width / 2 : p->width); x++)
                sum += p->plane[i][(ptrdiff_t)y * p->stride[i] + x];
    printf("picture %d %" PRId64 " %d %d %" PRId64 " %u\n", probe->number, p->number, p->width,
           p->height, p->captured, sum);
}

static void on_audio(void *ctx, const int16_t *samples, int frames)
{
    const struct probe *probe = ctx;
    int loudest = 0;
    for (int i = 0; i < frames * WEIR_AUDIO_CHANNELS; i++)
        loudest = abs(samples[i]) > loudest ? abs(samples[i]) : loudest;
    printf("audio %d %d %d\n", probe->number, frames, loudest);
}

static void on_event(void *ctx, const char *json)
{
    const struct probe *probe = ctx;
    printf("event %d %s\n", probe->number, json);
}

static void on_end(void *ctx, enum weir_end end, const char *why)
{
    struct probe *probe = ctx;
    probe->ended++;
    printf("end %d %d %s\n", probe->number, (int)end, why);
}

static void on_log(void *ctx, enum weir_log_level level, const char *text)
{
    (void)ctx;
    fprintf(stderr, "log %d %s\n", (int)level, text);
}

static struct weir_viewer *viewer_open(struct probe *probe, const char *url,
                                       const char *const *options)
{
    char error[512];
    struct weir_viewer_config config = {.size = sizeof(config),
                                        .url = url,
                                        .options = options,
                                        .on_picture = on_picture,
                                        .on_audio = on_audio,
                                        .on_event = on_event,
                                        .on_end = on_end,
                                        .ctx = probe};
    struct weir_viewer *v = weir_viewer_open(&config, error, sizeof(error));
    if (!v)
        printf("error %s\n", error);
    return v;
}

static void viewer_close(struct probe *probe)
{
    char *report = weir_viewer_close(probe->viewer);
    probe->viewer = NULL;
    for (char *c = report; c && *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    printf("closed %d %s\n", probe->number, report ? report : "null");
    free(report);
}

static void obey(char *line)
{
    char *words[WORDS + 1] = {NULL};
    int count = 0;
    char *rest;
    for (char *w = strtok_r(line, " \n", &rest); w && count < WORDS;
         w = strtok_r(NULL, " \n", &rest))
        words[count++] = w;
    static int opened;
    if (count >= 2 && strcmp(words[0], "open") == 0 && opened < VIEWERS) {
        struct probe *probe = &probes[opened];
        probe->number = opened;
        probe->viewer = viewer_open(probe, words[1], (const char *const *)(words + 2));
        if (probe->viewer)
            printf("opened %d\n", opened++);
        return;
    }
    if (count == 3 && strcmp(words[0], "cycle") == 0) {
        for (int i = atoi(words[1]); i > 0; i--) {
            struct probe probe = {.number = 99};
            const char *const none[] = {NULL};
            probe.viewer = viewer_open(&probe, words[2], none);
            viewer_close(&probe);
            if (probe.ended != 1)
                printf("error on_end was called %d times\n", probe.ended);
        }
        printf("cycled %s\n", words[1]);
        return;
    }
    struct probe *probe = count >= 2 ? &probes[atoi(words[1]) % VIEWERS] : NULL;
    if (!probe || !probe->viewer)
        printf("error no such viewer\n");
    else if (strcmp(words[0], "pause") == 0)
        weir_viewer_pause(probe->viewer);
    else if (strcmp(words[0], "resume") == 0)
        weir_viewer_resume(probe->viewer);
    else if (strcmp(words[0], "seek") == 0 && count == 3)
        weir_viewer_seek(probe->viewer, strtod(words[2], NULL));
    else if (strcmp(words[0], "level") == 0 && count == 3)
        weir_viewer_set_level(probe->viewer, atoi(words[2]));
    else if (strcmp(words[0], "close") == 0)
        viewer_close(probe);
    else
        printf("error what is %s?\n", words[0]);
}

enum { SIGNALS = 65 };

// How the program handles each signal; what it inherits is unlike from shell to shell.
struct handling {
    void (*handler[SIGNALS])(int);
    int blocked[SIGNALS];
};

static void read_handling(struct handling *h)
{
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    for (int number = 1; number < SIGNALS; number++) {
        struct sigaction now;
        if (sigaction(number, NULL, &now) == 0)
            h->handler[number] = now.sa_handler;
        h->blocked[number] = sigismember(&blocked, number);
    }
}

static int is_equal(const struct handling *a, const struct handling *b)
{
    for (int number = 1; number < SIGNALS; number++)
        if (a->handler[number] != b->handler[number] || a->blocked[number] != b->blocked[number])
            return 0;
    return 1;
}

int main(void)
{
    char line[4096];
    signal(SIGPIPE, SIG_DFL); // Python ignores it
    static struct handling before, after;
    read_handling(&before);
    setvbuf(stdout, NULL, _IOLBF, 0);
    weir_log_to(on_log, NULL, WEIR_LOG_WARN);
    printf("version %s\n", weir_version());
    while (fgets(line, sizeof(line), stdin))
        obey(line);
    read_handling(&after);
    printf("signals %s\n", is_equal(&before, &after) ? "untouched" : "changed");
    return 0;
}
