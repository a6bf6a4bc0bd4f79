// SPDX-License-Identifier: GPL-2.0-or-later
// A microphone, or what else PulseAudio and ALSA can record, through libavdevice. A thread reads
// it into a ring; a picture's time finds there what was recorded a little earlier (`lag`): as long
// as a picture stands, for what follows on it is not recorded yet, and what devices and this
// thread take. The device's clock is not ours: when the ring holds much more or less than that, a
// piece is left out, or silence put in.
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswresample/swresample.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/capture_library.h"
#include "media/sound_source.h"

enum {
    RING = 2 * SOUND_RATE,    // samples; when full the oldest go
    DEVICE = SOUND_RATE / 25, // 40 ms: of the lag, what devices take
    PIECE = SOUND_RATE,       // of one packet
};

struct sound_source_device {
    struct sound_source base;
    AVFormatContext *format;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    SwrContext *swr;
    pthread_t thread;
    bool running;
    bool begun; // a picture has asked
    int16_t piece[PIECE * SOUND_CHANNELS];
    pthread_mutex_t lock; // guards what follows
    bool stop;
    int head;
    int count;
    int16_t ring[RING * SOUND_CHANNELS];
};

// ---- The ring; locked

static void put(struct sound_source_device *s, const int16_t *pcm, int count)
{
    for (int i = 0; i < count; i++) {
        int at = (s->head + s->count) % RING;
        memcpy(&s->ring[at * SOUND_CHANNELS], &pcm[i * SOUND_CHANNELS],
               SOUND_CHANNELS * sizeof(*pcm));
        if (s->count < RING)
            s->count++;
        else
            s->head = (s->head + 1) % RING;
    }
}

static void drop(struct sound_source_device *s, int count)
{
    s->head = (s->head + count) % RING;
    s->count -= count;
}

static int take(struct sound_source_device *s, int16_t *out, int count)
{
    if (count > s->count)
        count = s->count;
    for (int i = 0; i < count; i++)
        memcpy(&out[i * SOUND_CHANNELS], &s->ring[(s->head + i) % RING * SOUND_CHANNELS],
               SOUND_CHANNELS * sizeof(*out));
    drop(s, count);
    return count;
}

// ---- The device's thread

static int is_stopped(void *ctx)
{
    struct sound_source_device *s = ctx;
    pthread_mutex_lock(&s->lock);
    int stop = s->stop;
    pthread_mutex_unlock(&s->lock);
    return stop;
}

static void record(struct sound_source_device *s)
{
    while (avcodec_receive_frame(s->codec, s->frame) == 0) {
        uint8_t *out[1] = {(uint8_t *)s->piece};
        const uint8_t *in[1] = {s->frame->data[0]};
        int count = swr_convert(s->swr, out, PIECE, in, s->frame->nb_samples);
        pthread_mutex_lock(&s->lock);
        put(s, s->piece, count);
        pthread_mutex_unlock(&s->lock);
    }
}

static void *run(void *arg)
{
    struct sound_source_device *s = arg;
    int r = 0;
    while (!is_stopped(s) && (r = av_read_frame(s->format, s->packet)) >= 0) {
        if (avcodec_send_packet(s->codec, s->packet) == 0)
            record(s);
        av_packet_unref(s->packet);
    }
    if (r < 0 && !is_stopped(s))
        log_warn("%s: no more sound comes (%s)", s->base.name, av_err2str(r));
    return NULL;
}

// ---- The pictures' side

// What was recorded in a picture's time is `count` samples; the ring shall hold the lag before.
static void device_read(struct sound_source *base, int64_t from, int16_t *out, int count)
{
    struct sound_source_device *s = (struct sound_source_device *)base;
    (void)from;
    pthread_mutex_lock(&s->lock);
    int wanted = s->base.lag;
    if (!s->begun || s->count > wanted + DEVICE) {
        if (s->count > wanted)
            drop(s, s->count - wanted);
        s->begun = s->count >= wanted;
    }
    int got = s->begun ? take(s, out, count) : 0;
    pthread_mutex_unlock(&s->lock);
    if (got < count)
        s->begun = false; // it is behind: silence until it has caught up
    memset(out + got * SOUND_CHANNELS, 0, (size_t)(count - got) * SOUND_CHANNELS * sizeof(*out));
}

static void device_free(struct sound_source *base)
{
    struct sound_source_device *s = (struct sound_source_device *)base;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_mutex_unlock(&s->lock);
    if (s->running)
        pthread_join(s->thread, NULL);
    swr_free(&s->swr);
    av_frame_free(&s->frame);
    av_packet_free(&s->packet);
    avcodec_free_context(&s->codec);
    avformat_close_input(&s->format);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static const struct sound_source_ops device_ops = {.read = device_read, .free = device_free};

// ---- Opening

static int open_input(struct sound_source_device *s, const char *format, const char *device)
{
    const char *missing = capture_library_load();
    if (missing) {
        log_error("--sound %s: %s", format, missing);
        return ERR_UNSUPPORTED;
    }
    const AVInputFormat *input = av_find_input_format(format);
    if (!input) {
        log_error("--sound %s: the libraries of this machine do not have it", format);
        return ERR_UNSUPPORTED;
    }
    s->format = avformat_alloc_context();
    if (!s->format)
        return ERR_NO_MEMORY;
    s->format->interrupt_callback = (AVIOInterruptCB){is_stopped, s};
    AVDictionary *options = NULL;
    av_dict_set_int(&options, "sample_rate", SOUND_RATE, 0);
    av_dict_set_int(&options, "channels", SOUND_CHANNELS, 0);
    if (strcmp(format, "pulse") == 0) // 10 ms; else it waits for seconds of sound
        av_dict_set_int(&options, "fragment_size",
                        SOUND_RATE / 100 * SOUND_CHANNELS * (int)sizeof(int16_t), 0);
    int r = avformat_open_input(&s->format, device, input, &options);
    av_dict_free(&options);
    if (r >= 0 && s->format->nb_streams == 1)
        return 0;
    log_error("--sound %s:%s cannot be recorded (%s)", format, device, av_err2str(r));
    return ERR_IO;
}

static int open_codec(struct sound_source_device *s)
{
    const AVCodecParameters *p = s->format->streams[0]->codecpar;
    const AVCodec *codec = avcodec_find_decoder(p->codec_id);
    s->codec = codec ? avcodec_alloc_context3(codec) : NULL;
    s->packet = av_packet_alloc();
    s->frame = av_frame_alloc();
    if (!s->codec || !s->packet || !s->frame)
        return ERR_NO_MEMORY;
    if (avcodec_parameters_to_context(s->codec, p) < 0 || avcodec_open2(s->codec, codec, NULL) < 0)
        return ERR_UNSUPPORTED;
    AVChannelLayout in;
    AVChannelLayout out = AV_CHANNEL_LAYOUT_STEREO;
    av_channel_layout_default(&in, s->codec->ch_layout.nb_channels);
    int r = swr_alloc_set_opts2(&s->swr, &out, AV_SAMPLE_FMT_S16, SOUND_RATE, &in,
                                s->codec->sample_fmt, s->codec->sample_rate, 0, NULL);
    av_channel_layout_uninit(&in);
    if (r < 0 || av_sample_fmt_is_planar(s->codec->sample_fmt))
        return ERR_UNSUPPORTED;
    return swr_init(s->swr) < 0 ? ERR_UNSUPPORTED : 0;
}

struct sound_source *sound_source_device_open(const char *format, const char *device,
                                              usec_t interval, int *err)
{
    struct sound_source_device *s = calloc(1, sizeof(*s));
    *err = ERR_NO_MEMORY;
    if (!s)
        return NULL;
    s->base.ops = &device_ops;
    s->base.lag = (int)sound_samples(interval) + DEVICE;
    snprintf(s->base.name, sizeof(s->base.name), "%s:%s", format, device);
    pthread_mutex_init(&s->lock, NULL);
    *err = open_input(s, format, device);
    if (!*err)
        *err = open_codec(s);
    if (!*err) {
        s->running = pthread_create(&s->thread, NULL, run, s) == 0;
        *err = s->running ? 0 : ERR_NO_MEMORY;
    }
    if (!*err)
        return &s->base;
    device_free(&s->base);
    return NULL;
}
