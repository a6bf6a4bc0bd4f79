// SPDX-License-Identifier: GPL-2.0-or-later
// Each sample requires a gain; the lowest one of the window of the look-ahead, released slowly, is
// the target; the gain is the mean of the targets of a window as long. Every target in the mean of
// the moment when a sample leaves has seen that sample, so the mean is no higher than the gain that
// it requires. Targets are whole numbers, so that their sum has no rounding error, and the gain
// comes back to exactly 1.
#include "media/coded/audio_limiter.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    AHEAD = AUDIO_LIMITER_AHEAD,
    WINDOW = AHEAD + 1,           // samples: those that wait, and the one that comes
    ONE = 1 << 24,                // a gain of 1
    RELEASE = AUDIO_RATE / 5,     // samples, of the time constant
    NEAR = ONE / 10000 + RELEASE, // a gain that is so near to its target has reached it
};

struct audio_limiter {
    int channels;
    int64_t taken; // samples since the start or a flush
    float late[AHEAD * AUDIO_CHANNELS];
    // The window's required gains that no later one undercuts, oldest and lowest first: a ring.
    int32_t low[WINDOW];
    int64_t low_at[WINDOW];
    int64_t low_first, low_end; // positions in the ring, counted from the start
    int32_t target[AHEAD];      // a ring
    int32_t last;               // the newest target
    int64_t sum;                // of `target`
};

static void begin(struct audio_limiter *l)
{
    l->taken = l->low_first = l->low_end = 0;
    for (int i = 0; i < AHEAD; i++)
        l->target[i] = l->last;
    l->sum = (int64_t)AHEAD * l->last;
}

struct audio_limiter *audio_limiter_new(int channels)
{
    struct audio_limiter *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->channels = channels;
    l->last = ONE;
    begin(l);
    return l;
}

void audio_limiter_free(struct audio_limiter *l)
{
    free(l);
}

int audio_limiter_held(const struct audio_limiter *l)
{
    return l->taken < AHEAD ? (int)l->taken : AHEAD;
}

// Returns the lowest gain that the window requires, with that of the sample that comes.
static int32_t lowest(struct audio_limiter *l, int32_t required)
{
    while (l->low_end > l->low_first && l->low[(l->low_end - 1) % WINDOW] >= required)
        l->low_end--;
    l->low[l->low_end % WINDOW] = required;
    l->low_at[l->low_end++ % WINDOW] = l->taken;
    if (l->low_at[l->low_first % WINDOW] <= l->taken - WINDOW)
        l->low_first++;
    return l->low[l->low_first % WINDOW];
}

// Takes the gain that the next sample requires; returns the gain of the one that leaves.
static float gain(struct audio_limiter *l, int32_t required)
{
    int32_t low = lowest(l, required), missing = low - l->last;
    l->last = missing < NEAR ? low : l->last + missing / RELEASE;
    int32_t *oldest = &l->target[l->taken % AHEAD];
    l->sum += l->last - *oldest;
    *oldest = l->last;
    l->taken++;
    return (float)l->sum / ((float)ONE * AHEAD);
}

static float finite_of(float x)
{
    return isfinite(x) ? x : 0;
}

// Exchanges the sample that comes, or silence (NULL), for the one that leaves.
static void exchange(struct audio_limiter *l, const float *in, float ceiling, float *out)
{
    float *late = l->late + l->taken % AHEAD * l->channels;
    float peak = 0, came[AUDIO_CHANNELS] = {0};
    for (int c = 0; c < l->channels && in; c++) {
        came[c] = finite_of(in[c]);
        peak = fmaxf(peak, fabsf(came[c]));
    }
    // Rounded down, and to be lower than the ceiling after the products below are rounded.
    int32_t required = peak > ceiling ? (int32_t)(ceiling / peak * (ONE - 4)) : ONE;
    bool is_full = l->taken >= AHEAD;
    float g = gain(l, required);
    for (int c = 0; c < l->channels; c++) {
        if (is_full)
            out[c] = late[c] * g;
        late[c] = came[c];
    }
}

int audio_limiter_run(struct audio_limiter *l, const float *in, int count, float ceiling,
                      float *out)
{
    int written = 0;
    for (int i = 0; i < count; i++) {
        bool is_full = l->taken >= AHEAD;
        exchange(l, in + i * l->channels, ceiling, out + written * l->channels);
        written += is_full;
    }
    return written;
}

int audio_limiter_flush(struct audio_limiter *l, float *out)
{
    int held = audio_limiter_held(l), written = 0;
    while (written < held) {
        bool is_full = l->taken >= AHEAD; // a short stream is first moved to the front
        exchange(l, NULL, 1, out + written * l->channels);
        written += is_full;
    }
    begin(l);
    return written;
}
