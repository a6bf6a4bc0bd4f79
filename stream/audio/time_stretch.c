// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/audio/time_stretch.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    STEP = 4
}; // samples: step of the coarse search, which a fine search around its result
   // follows

static double mono(const int16_t *pcm, int i)
{
    return (double)pcm[i * AUDIO_CHANNELS] + pcm[i * AUDIO_CHANNELS + 1];
}

// Returns the correlation of the audio with itself `lag` samples later; 1: identical.
static double likeness(const int16_t *pcm, int lag)
{
    double cross = 0, first = 1, second = 1; // 1 avoids a division by 0 in silence
    for (int i = 0; i < TIME_STRETCH_WINDOW; i += STEP) {
        double a = mono(pcm, i), b = mono(pcm, i + lag);
        cross += a * b;
        first += a * a;
        second += b * b;
    }
    return cross / sqrt(first * second);
}

static int best_of(const int16_t *pcm, int from, int to, int step)
{
    int best = from;
    double most = -2;
    for (int lag = from; lag <= to; lag += step) {
        double l = likeness(pcm, lag);
        if (l > most) {
            most = l;
            best = lag;
        }
    }
    return best;
}

static int bounded(int most)
{
    if (most < TIME_STRETCH_LEAST)
        return TIME_STRETCH_LEAST;
    return most < TIME_STRETCH_MOST ? most : TIME_STRETCH_MOST;
}

int time_stretch_needs(int most)
{
    most = bounded(most);
    return most + (most > TIME_STRETCH_WINDOW ? most : TIME_STRETCH_WINDOW);
}

int time_stretch_fits(int count)
{
    return count < 2 * TIME_STRETCH_WINDOW ? count - TIME_STRETCH_WINDOW : count / 2;
}

static int find_period(const int16_t *pcm, int most)
{
    most = bounded(most);
    int coarse = best_of(pcm, TIME_STRETCH_LEAST, most, STEP);
    int from = coarse - STEP < TIME_STRETCH_LEAST ? TIME_STRETCH_LEAST : coarse - STEP;
    return best_of(pcm, from, coarse + STEP > most ? most : coarse + STEP, 1);
}

// Fades from `a` to `b` over `count` samples, in `a`.
static void cross_fade(int16_t *a, const int16_t *b, int count)
{
    for (int i = 0; i < count; i++)
        for (int c = 0; c < AUDIO_CHANNELS; c++) {
            int k = i * AUDIO_CHANNELS + c;
            a[k] = (int16_t)((a[k] * (int64_t)(count - i) + b[k] * (int64_t)i) / count);
        }
}

static void move(int16_t *pcm, int to, int from, int count)
{
    memmove(pcm + to * AUDIO_CHANNELS, pcm + from * AUDIO_CHANNELS,
            (size_t)count * AUDIO_CHANNELS * sizeof(*pcm));
}

int time_stretch_shorter(int16_t *pcm, int count, int most)
{
    assert(count >= time_stretch_needs(most));
    int period = find_period(pcm, most);
    cross_fade(pcm, pcm + period * AUDIO_CHANNELS, period);
    move(pcm, period, 2 * period, count - 2 * period);
    return period;
}

int time_stretch_longer(int16_t *pcm, int count, int most)
{
    assert(count >= time_stretch_needs(most));
    int period = find_period(pcm, most);
    move(pcm, period, 0,
         count); // repeats the period; the repetition fades in from the samples that followed it
    int16_t again[TIME_STRETCH_MOST * AUDIO_CHANNELS];
    memcpy(again, pcm + 2 * period * AUDIO_CHANNELS,
           (size_t)period * AUDIO_CHANNELS * sizeof(*pcm));
    cross_fade(again, pcm + period * AUDIO_CHANNELS, period);
    memcpy(pcm + period * AUDIO_CHANNELS, again, (size_t)period * AUDIO_CHANNELS * sizeof(*pcm));
    return period;
}
