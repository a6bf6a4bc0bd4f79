// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/audio/audio_output.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "media/audio/audio_decoder.h"
#include "media/pattern/pattern_tone.h"
#include "player/audio/audio_device.h"

enum { UNHEARD = 32 };

struct audio_output {
    struct audio_output_config config;
    struct audio_device *device;         // owned
    pthread_mutex_t lock;                // guards the members below
    int volume;                          // percent
    struct audio_decoder *decoder;       // owned
    struct audio_jitter_buffer *playout; // owned
    struct tone_watch tone;
    struct av_offset offset;
    struct { // pictures that were shown before their audio was played; a full list drops the first
        int64_t position;
        usec_t shown_at;
    } unheard[UNHEARD];
    int unheard_count;
};

// ---- The decoder of the jitter buffer

static int decode(void *ctx, const uint8_t *data, size_t len, int16_t *out)
{
    return audio_decoder_decode(ctx, data, len, out);
}

static int conceal(void *ctx, int count, int16_t *out)
{
    return audio_decoder_conceal(ctx, count, out);
}

static void reset(void *ctx)
{
    audio_decoder_reset(ctx);
}

static const struct audio_decoding decoding = {
    .samples = audio_packet_samples, .decode = decode, .conceal = conceal, .reset = reset};

// ---- The offset, of media other than the test picture

static void drop_unheard(struct audio_output *p, int i)
{
    p->unheard_count--;
    memmove(&p->unheard[i], &p->unheard[i + 1],
            (size_t)(p->unheard_count - i) * sizeof(p->unheard[0]));
}

static void note_shown(struct audio_output *p, int64_t position, usec_t shown_at)
{
    if (p->unheard_count == UNHEARD)
        drop_unheard(p, 0);
    p->unheard[p->unheard_count].position = position;
    p->unheard[p->unheard_count++].shown_at = shown_at;
}

// Audio was played up to `until`.
static void compare(struct audio_output *p, usec_t until)
{
    for (int i = p->unheard_count - 1; i >= 0; i--) {
        usec_t heard_at, shown_at = p->unheard[i].shown_at;
        bool heard = audio_jitter_buffer_heard_at(p->playout, p->unheard[i].position, &heard_at);
        if (heard)
            av_offset_add(&p->offset, heard_at - shown_at);
        if (heard || until - shown_at > AV_OFFSET_NEAR)
            drop_unheard(p, i);
    }
}

// ---- The device's thread

static void fill(void *ctx, int16_t *out, int count, usec_t at)
{
    struct audio_output *p = ctx;
    pthread_mutex_lock(&p->lock);
    bool heard = audio_jitter_buffer_is_heard(p->playout);
    audio_jitter_buffer_pull(p->playout, out, count, at);
    compare(p, at);
    // Audio that starts within a beep would be mistaken for the beep's start.
    if (!heard || !audio_jitter_buffer_is_heard(p->playout))
        tone_watch_init(&p->tone);
    int beep = p->config.test ? tone_watch_find(&p->tone, out, count) : -1;
    if (beep >= 0)
        av_offset_beep(&p->offset, at + audio_usec(beep));
    int volume = p->volume;
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < count * AUDIO_CHANNELS && volume != 100; i++)
        out[i] = (int16_t)(out[i] * volume / 100);
    if (p->config.outlet.on_samples)
        p->config.outlet.on_samples(p->config.outlet.ctx, out, count);
}

// ---- The loop

void audio_output_packet(struct audio_output *p, int64_t position, const uint8_t *data, size_t len)
{
    pthread_mutex_lock(&p->lock);
    audio_jitter_buffer_push(p->playout, position, data, len);
    pthread_mutex_unlock(&p->lock);
}

void audio_output_set_clock(struct audio_output *p, const struct media_clock *clock)
{
    pthread_mutex_lock(&p->lock);
    audio_jitter_buffer_set_clock(p->playout, clock);
    pthread_mutex_unlock(&p->lock);
}

void audio_output_shown(struct audio_output *p, usec_t pts, usec_t shown_at, bool flash)
{
    pthread_mutex_lock(&p->lock);
    if (flash)
        av_offset_flash(&p->offset, shown_at);
    else if (!p->config.test)
        note_shown(p, audio_samples(pts), shown_at);
    pthread_mutex_unlock(&p->lock);
}

void audio_output_flush(struct audio_output *p)
{
    pthread_mutex_lock(&p->lock);
    audio_jitter_buffer_flush(p->playout);
    pthread_mutex_unlock(&p->lock);
}

void audio_output_end(struct audio_output *p)
{
    pthread_mutex_lock(&p->lock);
    audio_jitter_buffer_end(p->playout);
    pthread_mutex_unlock(&p->lock);
}

void audio_output_set_volume(struct audio_output *p, int percent)
{
    pthread_mutex_lock(&p->lock);
    p->volume = percent;
    pthread_mutex_unlock(&p->lock);
}

uint64_t audio_output_underruns(struct audio_output *p)
{
    pthread_mutex_lock(&p->lock);
    uint64_t underruns = audio_jitter_buffer_counts(p->playout)->underruns;
    pthread_mutex_unlock(&p->lock);
    return underruns;
}

void audio_output_read(struct audio_output *p, struct audio_output_stats *out)
{
    pthread_mutex_lock(&p->lock);
    out->counts = *audio_jitter_buffer_counts(p->playout);
    av_offset_read(&p->offset, &out->offset);
    out->by_tone = p->config.test;
    pthread_mutex_unlock(&p->lock);
}

// ---- Life

struct audio_output *audio_output_new(const struct audio_output_config *config)
{
    struct audio_output *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->config = *config;
    p->volume = config->volume;
    tone_watch_init(&p->tone);
    pthread_mutex_init(&p->lock, NULL);
    p->decoder = audio_decoder_new();
    p->playout = audio_jitter_buffer_new(&decoding, p->decoder);
    struct audio_device_config device = {.fill = fill, .ctx = p};
    if (p->decoder && p->playout) {
        p->device = config->outlet.is_virtual ? audio_device_virtual_new(&device)
                                              : audio_device_sdl_new(&device);
        return p;
    }
    log_error("cannot set up the audio: out of memory");
    audio_output_free(p);
    return NULL;
}

void audio_output_free(struct audio_output *p)
{
    if (!p)
        return;
    audio_device_free(p->device);
    audio_jitter_buffer_free(p->playout);
    audio_decoder_free(p->decoder);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
