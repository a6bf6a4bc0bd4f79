// SPDX-License-Identifier: GPL-2.0-or-later
// The player's panel: CPU time per frame, drawn in software at several window sizes; its values
// change every eighth frame, as at 30 frames per second.
//   bench_panel
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "common/base/usec.h"
#include "player/ui/model/osd_layout.h"
#include "player/ui/panel_draw.h"

enum { FRAMES = 240, FRAMES_A_SAMPLE = 8 };

// Measures processor time, so that other work of the machine does not count.
static usec_t spent(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * USEC_PER_SEC + t.tv_nsec / 1000;
}

static void fill_sample(struct panel_sample *s, int i)
{
    panel_sample_clear(s);
    snprintf(s->transport, sizeof(s->transport), "tfrc");
    snprintf(s->level, sizeof(s->level), "1280x720@30, 1.92 Mbit/s");
    s->levels = 7;
    s->expected = i;
    s->stalls = 0;
    for (int v = 0; v < PANEL_VARIABLES; v++)
        snprintf(s->name[v], PANEL_NAME, "v%d", v);
    for (int row = 0; row < PANEL_ROWS; row++)
        s->value[row] = 100 * (1 + sin(i / 7.0 + row));
    for (int part = 0; part < LATENCY_PARTS; part++)
        s->part[part] = 10 * (part + 1);
}

static int measure(int width, int height)
{
    SDL_Surface *screen =
        SDL_CreateRGBSurfaceWithFormat(0, width, height, 32, SDL_PIXELFORMAT_ARGB8888);
    SDL_Renderer *renderer = screen ? SDL_CreateSoftwareRenderer(screen) : NULL;
    struct osd_text *text = renderer ? osd_text_new(renderer) : NULL;
    if (!text)
        return 1;
    osd_text_set_px(text, osd_text_px(width, height, 96));
    static struct panel_history history;
    struct panel_draw draw;
    struct panel_sample sample;
    usec_t sum = 0;
    usec_t copies = 0;
    usec_t most = 0;
    panel_history_init(&history);
    panel_draw_init(&draw, renderer);
    for (int i = 0; i < PANEL_SAMPLES; i++) {
        fill_sample(&sample, i);
        panel_history_push(&history, &sample);
    }
    for (int i = 0; i < FRAMES; i++) {
        bool renews = i % FRAMES_A_SAMPLE == 0;
        fill_sample(&sample, i);
        SDL_RenderFlush(renderer);
        usec_t began = spent();
        if (renews) {
            panel_history_push(&history, &sample);
            panel_draw_renew(&draw);
        }
        panel_draw_show(&draw, text, &history, &sample, width, height);
        SDL_RenderFlush(renderer);
        usec_t took = spent() - began;
        sum += took;
        copies += renews ? 0 : took;
        most = usec_max(most, took);
    }
    printf("%4dx%-4d  %.3f ms a frame, %.3f of those without news, the longest %.3f\n", width,
           height, usec_to_msec(sum) / FRAMES,
           usec_to_msec(copies) / (FRAMES - FRAMES / FRAMES_A_SAMPLE), usec_to_msec(most));
    panel_draw_destroy(&draw);
    osd_text_free(text);
    SDL_DestroyRenderer(renderer);
    SDL_FreeSurface(screen);
    return 0;
}

int main(void)
{
    return measure(640, 360) || measure(1280, 720) || measure(1920, 1080) || measure(3840, 2160);
}
