// SPDX-License-Identifier: GPL-2.0-or-later
// The machine's audio device, through SDL. SDL requests a block when the preceding one begins to
// play, so the first sample is heard one block later; the device's own buffer adds one block more.
// Requests arrive in bursts and slightly early or late, so the device's clock is a slowly fitted
// line through their times.
#include <SDL.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "player/audio/audio_device.h"

enum {
    BLOCK = 480,
    // Samples of a request. SDL 2.26 allocates as much as is requested here, but rounds its
    // callbacks up to a power of two (dummy driver), and would write past the end.
    DEVICE_BLOCK = 512,
    SMOOTH = 64, // blocks
};
#define ASTRAY (60 * USEC_PER_MSEC) // an error above this resets the fitted line

struct device_sdl {
    struct audio_device base;
    SDL_AudioDeviceID id;
    usec_t latency; // from the request to the loudspeaker
    bool begun;     // audio thread only; so is `due`
    double due;     // time of the next request on the line; audio thread only
};

static usec_t heard_at(struct device_sdl *d, int count, usec_t now)
{
    double off = (double)now - d->due;
    if (!d->begun || off > (double)ASTRAY || off < -(double)ASTRAY) {
        d->begun = true;
        d->due = (double)now;
        off = 0;
    }
    usec_t at = (usec_t)(d->due + off / SMOOTH);
    d->due = (double)at + (double)audio_usec(count);
    return at + d->latency;
}

static void SDLCALL on_audio(void *ctx, Uint8 *stream, int bytes)
{
    struct device_sdl *d = ctx;
    int count = bytes / (int)(AUDIO_CHANNELS * sizeof(int16_t));
    usec_t at = heard_at(d, count, clock_now());
    for (int done = 0; done < count;) {
        int piece = count - done < BLOCK ? count - done : BLOCK;
        int16_t out[BLOCK * AUDIO_CHANNELS];
        d->base.config.fill(d->base.config.ctx, out, piece, at + audio_usec(done));
        SDL_memcpy(stream + (size_t)done * AUDIO_CHANNELS * sizeof(*out), out,
                   (size_t)piece * AUDIO_CHANNELS * sizeof(*out));
        done += piece;
    }
}

static void sdl_free(struct audio_device *base)
{
    struct device_sdl *d = (struct device_sdl *)base;
    if (d->id)
        SDL_CloseAudioDevice(d->id);
    SDL_QuitSubSystem(SDL_INIT_AUDIO);
    free(d);
}

static const struct audio_device_ops sdl_ops = {.free = sdl_free};

static void say_nothing(const char *file, int line, const char *function, int err,
                        const char *format, ...)
{
    (void)file, (void)line, (void)function, (void)err, (void)format;
}

// ALSA writes eight lines to stderr on a machine without a sound card; one warning of ours says it.
// SDL loads the same library at run time. The handle stays open, as the handler does.
static void silence_alsa(void)
{
    typedef int set_handler_fn(
        void (*handler)(const char *, int, const char *, int, const char *, ...));
    void *library = SDL_LoadObject("libasound.so.2");
    set_handler_fn *set = NULL;
    if (library)
        set = (set_handler_fn *)(uintptr_t)SDL_LoadFunction(library, "snd_lib_error_set_handler");
    if (set)
        (void)set(say_nothing);
}

struct audio_device *audio_device_sdl_new(const struct audio_device_config *config)
{
    struct device_sdl *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->base = (struct audio_device){.ops = &sdl_ops, .config = *config};
    SDL_AudioSpec want = {.freq = AUDIO_RATE,
                          .format = AUDIO_S16SYS,
                          .channels = AUDIO_CHANNELS,
                          .samples = DEVICE_BLOCK,
                          .callback = on_audio,
                          .userdata = d};
    SDL_AudioSpec have;
    silence_alsa();
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    if (SDL_InitSubSystem(SDL_INIT_AUDIO) == 0)
        d->id = SDL_OpenAudioDevice(NULL, 0, &want, &have, SDL_AUDIO_ALLOW_SAMPLES_CHANGE);
    if (!d->id) {
        log_warn("no audio device: %s (playing without audio)", SDL_GetError());
        sdl_free(&d->base);
        return NULL;
    }
    d->latency = 2 * audio_usec(have.samples);
    SDL_PauseAudioDevice(d->id, 0);
    return &d->base;
}
