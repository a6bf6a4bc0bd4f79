// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/policy/given_audio.h"

#include <string.h>

enum {
    FORGET = AUDIO_RATE / 1000, // samples, 1 ms: decay of `age` per push
    SPARE = AUDIO_RATE / 200,   // samples, 5 ms: what the lag has beyond that
};

static int16_t *at(struct given_audio *a, int64_t sample)
{
    return &a->ring[sample % GIVEN_AUDIO_RING * AUDIO_CHANNELS];
}

// `samples`: NULL: silence.
static void append(struct given_audio *a, const int16_t *samples, int64_t count)
{
    for (int64_t i = 0; i < count; i++, a->end++) {
        if (samples)
            memcpy(at(a, a->end), &samples[i * AUDIO_CHANNELS], AUDIO_CHANNELS * sizeof(*samples));
        else
            memset(at(a, a->end), 0, AUDIO_CHANNELS * sizeof(*samples));
        if (a->count < GIVEN_AUDIO_RING)
            a->count++;
    }
}

// Returns the number of a push's samples that are left out, as the program is ahead.
static int64_t left_out(struct given_audio *a, int64_t lead, int count)
{
    a->lead = a->pushed == 0 || lead < a->lead ? lead : a->lead;
    a->pushed += count;
    if (a->pushed >= GIVEN_AUDIO_WINDOW) {
        a->excess = a->lead > GIVEN_AUDIO_NEAR ? a->lead : 0;
        a->pushed = 0;
    }
    int64_t left = a->excess < count ? a->excess : count;
    a->excess -= left;
    return left;
}

bool given_audio_push(struct given_audio *a, const int16_t *samples, int count, usec_t stamp,
                      bool is_stamped, usec_t now)
{
    int64_t begin = audio_samples(stamp), skip = 0;
    int64_t early = is_stamped ? GIVEN_AUDIO_NEAR : GIVEN_AUDIO_AHEAD;
    bool continues = a->count && begin <= a->end + GIVEN_AUDIO_NEAR && begin >= a->end - early;
    int64_t from = continues ? a->end : begin;
    if (count > GIVEN_AUDIO_MAX || (a->count && a->end > audio_samples(now) + GIVEN_AUDIO_AHEAD))
        return false;
    int64_t age = audio_samples(now) - a->end;
    if (!a->count)
        a->age = -count;
    else if (age <= GIVEN_AUDIO_OLD) // else the program has paused
        a->age = age > a->age - FORGET ? age : a->age - FORGET;
    if (a->count && from < a->end)
        skip = a->end - from < count ? a->end - from : count;
    else if (continues && !is_stamped)
        skip = left_out(a, a->end - begin, count);
    if (!a->count || from - a->end >= GIVEN_AUDIO_RING) { // nothing of before is kept
        a->count = 0;
        a->end = from;
    }
    if (from > a->end)
        append(a, NULL, from - a->end);
    append(a, samples ? samples + skip * AUDIO_CHANNELS : NULL, count - skip);
    return true;
}

int given_audio_lag(const struct given_audio *a, int interval)
{
    int64_t lag = interval + a->age + SPARE;
    return lag > 1 ? (int)lag : 1; // 0 is that of a file
}

void given_audio_read(const struct given_audio *a, int64_t from, int16_t *out, int count)
{
    for (int i = 0; i < count; i++) {
        int64_t sample = from + i;
        bool is_there = sample < a->end && sample >= a->end - a->count;
        if (is_there)
            memcpy(&out[i * AUDIO_CHANNELS], &a->ring[sample % GIVEN_AUDIO_RING * AUDIO_CHANNELS],
                   AUDIO_CHANNELS * sizeof(*out));
        else
            memset(&out[i * AUDIO_CHANNELS], 0, AUDIO_CHANNELS * sizeof(*out));
    }
}
