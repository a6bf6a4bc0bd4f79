// SPDX-License-Identifier: GPL-2.0-or-later
// A sound card of ALSA's for a program that is started with this library in LD_PRELOAD: any device
// is there as long as the file $WEIR_FAKE_MICROPHONE is. In it stand the card's number of channels,
// which it insists on, its rate, and the amplitude of the tone of 1 kHz that it records;
// a negative one: it stands still.
#include <alsa/asoundlib.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD = 480, BUFFER = 16 * PERIOD };

static struct {
    unsigned channels, rate;
    int amplitude;
    struct timespec due; // of the next period
    int64_t position;    // of the tone
} card;

// False: unplugged.
static bool look(void)
{
    const char *path = getenv("WEIR_FAKE_MICROPHONE");
    FILE *f = path ? fopen(path, "r") : NULL;
    if (!f)
        return false;
    bool whole = fscanf(f, "%u %u %d", &card.channels, &card.rate, &card.amplitude) == 3;
    fclose(f);
    return whole;
}

int snd_pcm_open(snd_pcm_t **pcm, const char *name, snd_pcm_stream_t stream, int mode)
{
    (void)name, (void)stream, (void)mode;
    if (!look())
        return -ENOENT;
    clock_gettime(CLOCK_MONOTONIC, &card.due);
    *pcm = (snd_pcm_t *)&card;
    return 0;
}

int snd_pcm_close(snd_pcm_t *pcm)
{
    (void)pcm;
    return 0;
}

snd_pcm_stream_t snd_pcm_stream(snd_pcm_t *pcm)
{
    (void)pcm;
    return SND_PCM_STREAM_CAPTURE;
}

int snd_pcm_hw_params_malloc(snd_pcm_hw_params_t **params)
{
    *params = malloc(1);
    return *params ? 0 : -ENOMEM;
}

void snd_pcm_hw_params_free(snd_pcm_hw_params_t *params)
{
    free(params);
}

int snd_pcm_hw_params_any(snd_pcm_t *pcm, snd_pcm_hw_params_t *params)
{
    (void)pcm, (void)params;
    return 0;
}

int snd_pcm_hw_params_set_access(snd_pcm_t *pcm, snd_pcm_hw_params_t *params,
                                 snd_pcm_access_t access)
{
    (void)pcm, (void)params;
    return access == SND_PCM_ACCESS_RW_INTERLEAVED ? 0 : -EINVAL;
}

int snd_pcm_hw_params_set_format(snd_pcm_t *pcm, snd_pcm_hw_params_t *params,
                                 snd_pcm_format_t format)
{
    (void)pcm, (void)params;
    return format == SND_PCM_FORMAT_S16 ? 0 : -EINVAL;
}

int snd_pcm_hw_params_set_rate_near(snd_pcm_t *pcm, snd_pcm_hw_params_t *params, unsigned *rate,
                                    int *direction)
{
    (void)pcm, (void)params, (void)direction;
    *rate = card.rate;
    return 0;
}

int snd_pcm_hw_params_set_channels(snd_pcm_t *pcm, snd_pcm_hw_params_t *params, unsigned channels)
{
    (void)pcm, (void)params;
    return channels == card.channels ? 0 : -EINVAL;
}

int snd_pcm_hw_params_get_buffer_size_max(const snd_pcm_hw_params_t *params,
                                          snd_pcm_uframes_t *size)
{
    (void)params;
    *size = BUFFER;
    return 0;
}

int snd_pcm_hw_params_set_buffer_size_near(snd_pcm_t *pcm, snd_pcm_hw_params_t *params,
                                           snd_pcm_uframes_t *size)
{
    (void)pcm, (void)params;
    *size = BUFFER;
    return 0;
}

int snd_pcm_hw_params_get_period_size_min(const snd_pcm_hw_params_t *params,
                                          snd_pcm_uframes_t *size, int *direction)
{
    (void)params, (void)direction;
    *size = PERIOD;
    return 0;
}

int snd_pcm_hw_params_set_period_size_near(snd_pcm_t *pcm, snd_pcm_hw_params_t *params,
                                           snd_pcm_uframes_t *size, int *direction)
{
    (void)pcm, (void)params, (void)direction;
    *size = PERIOD;
    return 0;
}

int snd_pcm_hw_params(snd_pcm_t *pcm, snd_pcm_hw_params_t *params)
{
    (void)pcm, (void)params;
    return 0;
}

int snd_pcm_prepare(snd_pcm_t *pcm)
{
    (void)pcm;
    return 0;
}

int snd_pcm_delay(snd_pcm_t *pcm, snd_pcm_sframes_t *delay)
{
    (void)pcm;
    *delay = 0;
    return 0;
}

// Each period at its time.
snd_pcm_sframes_t snd_pcm_readi(snd_pcm_t *pcm, void *buffer, snd_pcm_uframes_t size)
{
    (void)pcm;
    int16_t *out = buffer;
    unsigned channels = card.channels; // the program's buffer is for so many
    if (!look() || channels != card.channels)
        return -ENODEV;
    while (card.amplitude < 0)
        pause();
    card.due.tv_nsec += (long)(1000000000 * size / card.rate);
    card.due.tv_sec += card.due.tv_nsec / 1000000000;
    card.due.tv_nsec %= 1000000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &card.due, NULL);
    for (snd_pcm_uframes_t i = 0; i < size; i++, card.position++) {
        double phase = 2 * M_PI * 1000 * (double)card.position / card.rate;
        for (unsigned c = 0; c < channels; c++)
            *out++ = (int16_t)(card.amplitude * sin(phase));
    }
    return (snd_pcm_sframes_t)size;
}
