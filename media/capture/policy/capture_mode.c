// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/policy/capture_mode.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Returns the value of the range that is nearest to `requested` from below, unless `min` is larger.
static int within(int requested, int min, int max, int step)
{
    if (requested <= min)
        return min;
    if (requested >= max)
        return max;
    return step > 1 ? min + (requested - min) / step * step : requested;
}

static struct fps rate_within(struct fps requested, const struct capture_mode *m)
{
    if (m->fastest.num <= 0 || m->slowest.num <= 0)
        return requested; // the driver lists no rates and will choose one itself
    if (fps_value(requested) <= fps_value(m->slowest))
        return m->slowest;
    return fps_value(requested) >= fps_value(m->fastest) ? m->fastest : requested;
}

// Keys of a lexicographic comparison; smaller is better.
struct rank {
    double by[5];
};

static struct rank rank_of(const struct capture_choice *c, struct geometry requested)
{
    const struct geometry *g = &c->given;
    double rate = fps_value(g->fps), wanted = fps_value(requested.fps);
    bool same = g->width == requested.width && g->height == requested.height;
    bool inside = g->width <= requested.width && g->height <= requested.height;
    double area = (double)g->width * g->height;
    bool enough = rate >= wanted - 0.01;
    return (struct rank){{rate < wanted / 2,
                          same     ? 0
                          : inside ? 1
                                   : 2,
                          inside ? -area : area, enough ? rate : 1e6 - rate, c->format->coded}};
}

static bool is_better(const struct rank *a, const struct rank *b)
{
    for (int i = 0; i < 5; i++)
        if (fabs(a->by[i] - b->by[i]) > 1e-9)
            return a->by[i] < b->by[i];
    return false;
}

bool capture_choose(const struct capture_mode *modes, int count, struct geometry requested,
                    struct capture_choice *out)
{
    struct rank best = {{0}};
    for (int i = 0; i < count; i++) {
        const struct capture_mode *m = &modes[i];
        struct capture_choice c = {
            .format = m->format,
            .given = {within(requested.width, m->min_width, m->max_width, m->step_width),
                      within(requested.height, m->min_height, m->max_height, m->step_height),
                      rate_within(requested.fps, m)}};
        struct rank rank = rank_of(&c, requested);
        if (i == 0 || is_better(&rank, &best)) {
            best = rank;
            *out = c;
        }
    }
    return count > 0;
}

void capture_rate_text(struct fps fps, char *out, size_t cap)
{
    if (fps.den > 0 && fps.num % fps.den == 0)
        snprintf(out, cap, "%d", fps.num / fps.den);
    else
        snprintf(out, cap, "%.2f", fps.den > 0 ? fps_value(fps) : 0.0);
}

static void rates_text(const struct capture_mode *m, char *out, size_t cap)
{
    char slowest[16];
    char fastest[16];
    capture_rate_text(m->slowest, slowest, sizeof(slowest));
    capture_rate_text(m->fastest, fastest, sizeof(fastest));
    bool range = strcmp(slowest, fastest) != 0;
    if (m->fastest.num <= 0)
        snprintf(out, cap, "?");
    else
        snprintf(out, cap, "%s%s%s", slowest, range ? "-" : "", range ? fastest : "");
}

static void size_text(const struct capture_mode *m, char *out, size_t cap)
{
    if (m->min_width == m->max_width && m->min_height == m->max_height)
        snprintf(out, cap, "%dx%d", m->max_width, m->max_height);
    else
        snprintf(out, cap, "%dx%d-%dx%d", m->min_width, m->min_height, m->max_width, m->max_height);
}

// Returns false if there is no room; `out` then ends with " ...".
static bool append(char *out, size_t cap, const char *text)
{
    static const char more[] = " ...";
    size_t used = strlen(out), len = strlen(text);
    if (used + len + sizeof(more) < cap) {
        memcpy(out + used, text, len + 1);
        return true;
    }
    if (used + sizeof(more) <= cap)
        memcpy(out + used, more, sizeof(more));
    return false;
}

void capture_modes_text(const struct capture_mode *modes, int count, char *out, size_t cap)
{
    out[0] = '\0';
    char last_size[48] = "";
    for (int i = 0; i < count; i++) {
        char size[48];
        char rates[40];
        char word[128];
        size_text(&modes[i], size, sizeof(size));
        rates_text(&modes[i], rates, sizeof(rates));
        if (i == 0 || modes[i].format != modes[i - 1].format)
            snprintf(word, sizeof(word), "%s%s %s@%s", i ? "; " : "", modes[i].format->name, size,
                     rates);
        else if (strcmp(size, last_size) == 0)
            snprintf(word, sizeof(word), ",%s", rates);
        else
            snprintf(word, sizeof(word), " %s@%s", size, rates);
        if (!append(out, cap, word))
            return;
        memcpy(last_size, size, sizeof(last_size));
    }
}
