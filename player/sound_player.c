// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/sound_player.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "media/sound_decoder.h"
#include "media/test_tone.h"
#include "player/sound_device.h"

struct sound_player {
    struct sound_player_config config;
    struct sound_device *device; // owned
    pthread_mutex_t lock;        // guards what follows
    bool muted;
    struct sound_decoder *decoder; // owned
    struct sound_playout *playout; // owned
    struct tone_watch tone;
    struct av_offset offset;
};

// ---- The decoder, as the playout buffer sees it

static int decode(void *ctx, const uint8_t *data, size_t len, int16_t *out)
{
    return sound_decoder_decode(ctx, data, len, out);
}

static int conceal(void *ctx, int count, int16_t *out)
{
    return sound_decoder_conceal(ctx, count, out);
}

static void reset(void *ctx)
{
    sound_decoder_reset(ctx);
}

static const struct sound_decoding decoding = {
    .samples = sound_packet_samples, .decode = decode, .conceal = conceal, .reset = reset};

// ---- The device's thread

static void fill(void *ctx, int16_t *out, int count, usec_t at)
{
    struct sound_player *p = ctx;
    pthread_mutex_lock(&p->lock);
    bool heard = sound_playout_is_heard(p->playout);
    sound_playout_pull(p->playout, out, count, at);
    // What begins in the middle of a beep would be taken for its beginning.
    if (!heard || !sound_playout_is_heard(p->playout))
        tone_watch_init(&p->tone);
    int beep = p->config.test ? tone_watch_find(&p->tone, out, count) : -1;
    if (beep >= 0)
        av_offset_beep(&p->offset, at + sound_usec(beep));
    int volume = p->muted ? 0 : p->config.volume;
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < count * SOUND_CHANNELS && volume != 100; i++)
        out[i] = (int16_t)(out[i] * volume / 100);
}

// ---- The loop

void sound_player_packet(struct sound_player *p, int64_t position, const uint8_t *data, size_t len)
{
    pthread_mutex_lock(&p->lock);
    sound_playout_push(p->playout, position, data, len);
    pthread_mutex_unlock(&p->lock);
}

void sound_player_set_clock(struct sound_player *p, const struct media_clock *clock)
{
    pthread_mutex_lock(&p->lock);
    sound_playout_set_clock(p->playout, clock);
    pthread_mutex_unlock(&p->lock);
}

void sound_player_shown(struct sound_player *p, usec_t pts, usec_t shown_at, bool flash)
{
    usec_t heard_at;
    pthread_mutex_lock(&p->lock);
    if (flash)
        av_offset_flash(&p->offset, shown_at);
    else if (!p->config.test && sound_playout_heard_at(p->playout, sound_samples(pts), &heard_at))
        av_offset_add(&p->offset, heard_at - shown_at);
    pthread_mutex_unlock(&p->lock);
}

void sound_player_flush(struct sound_player *p)
{
    pthread_mutex_lock(&p->lock);
    sound_playout_flush(p->playout);
    pthread_mutex_unlock(&p->lock);
}

void sound_player_end(struct sound_player *p)
{
    pthread_mutex_lock(&p->lock);
    sound_playout_end(p->playout);
    pthread_mutex_unlock(&p->lock);
}

bool sound_player_mute(struct sound_player *p)
{
    pthread_mutex_lock(&p->lock);
    bool muted = p->muted = !p->muted;
    pthread_mutex_unlock(&p->lock);
    return muted;
}

uint64_t sound_player_underruns(struct sound_player *p)
{
    pthread_mutex_lock(&p->lock);
    uint64_t underruns = sound_playout_counts(p->playout)->underruns;
    pthread_mutex_unlock(&p->lock);
    return underruns;
}

void sound_player_read(struct sound_player *p, struct sound_player_figures *out)
{
    pthread_mutex_lock(&p->lock);
    out->counts = *sound_playout_counts(p->playout);
    av_offset_read(&p->offset, &out->offset);
    out->by_tone = p->config.test;
    pthread_mutex_unlock(&p->lock);
}

// ---- Life

struct sound_player *sound_player_new(const struct sound_player_config *config)
{
    struct sound_player *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->config = *config;
    tone_watch_init(&p->tone);
    pthread_mutex_init(&p->lock, NULL);
    p->decoder = sound_decoder_new();
    p->playout = sound_playout_new(&decoding, p->decoder);
    struct sound_device_config device = {.fill = fill, .ctx = p};
    if (p->decoder && p->playout) {
        p->device =
            config->headless ? sound_device_virtual_new(&device) : sound_device_sdl_new(&device);
        return p;
    }
    log_error("cannot set up the sound: out of memory");
    sound_player_free(p);
    return NULL;
}

void sound_player_free(struct sound_player *p)
{
    if (!p)
        return;
    sound_device_free(p->device);
    sound_playout_free(p->playout);
    sound_decoder_free(p->decoder);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
