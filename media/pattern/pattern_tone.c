// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/pattern/pattern_tone.h"

#include <stdlib.h>

enum {
    PERIOD = AUDIO_RATE / 1000,
    AMPLITUDE = 12000,
    LOUD = AMPLITUDE / 4,   // above the pre-echo that coding adds before a beep
    QUIET = AUDIO_RATE / 5, // samples of silence before a beep
};

// The first quarter of a sine, times 1024. A period of 1 kHz is 48 samples at 48 kHz.
static const int quarter[PERIOD / 4 + 1] = {0,   134, 265, 392, 512,  623, 724,
                                            812, 887, 946, 989, 1015, 1024};

static int tone(int64_t position)
{
    int64_t second = position % AUDIO_RATE;
    if (second < 0)
        second += AUDIO_RATE;
    if (second >= PATTERN_TONE_LENGTH)
        return 0;
    int phase = (int)(second % PERIOD);
    int half = phase % (PERIOD / 2);
    int value = quarter[half <= PERIOD / 4 ? half : PERIOD / 2 - half];
    return (phase < PERIOD / 2 ? value : -value) * AMPLITUDE / 1024;
}

void pattern_tone_fill(int64_t position, int16_t *out, int count)
{
    for (int i = 0; i < count; i++)
        out[i * AUDIO_CHANNELS] = out[i * AUDIO_CHANNELS + 1] = (int16_t)tone(position + i);
}

void tone_watch_init(struct tone_watch *w)
{
    *w = (struct tone_watch){0};
}

int tone_watch_find(struct tone_watch *w, const int16_t *pcm, int count)
{
    int found = -1;
    for (int i = 0; i < count; i++) {
        if (abs(pcm[i * AUDIO_CHANNELS]) < LOUD) {
            w->quiet += w->quiet < QUIET;
            continue;
        }
        if (found < 0 && w->quiet >= QUIET)
            found = i;
        w->quiet = 0;
    }
    return found;
}
