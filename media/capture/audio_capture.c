// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/audio_capture.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswresample/swresample.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "media/capture/capture_library.h"

struct audio_device {
    AVFormatContext *format; // all members are owned
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    SwrContext *swr;
};

static int try_open(struct audio_device *d, const AVInputFormat *input, const char *name,
                    int channels)
{
    AVDictionary *options = NULL;
    av_dict_set_int(&options, "sample_rate", AUDIO_RATE, 0);
    av_dict_set_int(&options, "channels", channels, 0);
    // PulseAudio's own default fragment holds seconds of audio; 10 ms keep the delay short.
    if (strcmp(input->name, "pulse") == 0)
        av_dict_set_int(&options, "fragment_size",
                        AUDIO_RATE / 100 * channels * (int)sizeof(int16_t), 0);
    int r = avformat_open_input(&d->format, name, input, &options);
    av_dict_free(&options);
    return r;
}

// PulseAudio converts to any number of channels. An ALSA card that is opened by its own name
// (hw:...) accepts only its own number: many microphones have one channel, mixers have more.
static int open_input(struct audio_device *d, const char *format, const char *name, char *reason,
                      size_t cap)
{
    static const int channels[] = {AUDIO_CHANNELS, 1, 4, 6, 8};
    const char *missing = capture_library_load();
    if (missing)
        return err_say(reason, cap, ERR_UNSUPPORTED, "--sound %s: %s", format, missing);
    const AVInputFormat *input = av_find_input_format(format);
    if (!input)
        return err_say(reason, cap, ERR_UNSUPPORTED,
                       "--sound %s: the libav libraries of this machine do not support it", format);
    size_t tries = strcmp(format, "alsa") == 0 ? sizeof(channels) / sizeof(*channels) : 1;
    int r = -1;
    for (size_t i = 0; r < 0 && i < tries; i++)
        r = try_open(d, input, name, channels[i]);
    if (r >= 0 && d->format->nb_streams == 1)
        return 0;
    return err_say(reason, cap, ERR_IO, "--sound %s:%s cannot be recorded (%s)", format, name,
                   av_err2str(r));
}

static int open_codec(struct audio_device *d)
{
    const AVCodecParameters *p = d->format->streams[0]->codecpar;
    const AVCodec *codec = avcodec_find_decoder(p->codec_id);
    d->codec = codec ? avcodec_alloc_context3(codec) : NULL;
    d->packet = av_packet_alloc();
    d->frame = av_frame_alloc();
    if (!d->codec || !d->packet || !d->frame)
        return ERR_NO_MEMORY;
    if (avcodec_parameters_to_context(d->codec, p) < 0 || avcodec_open2(d->codec, codec, NULL) < 0)
        return ERR_UNSUPPORTED;
    AVChannelLayout in;
    AVChannelLayout out = AV_CHANNEL_LAYOUT_STEREO;
    av_channel_layout_default(&in, d->codec->ch_layout.nb_channels);
    int r = swr_alloc_set_opts2(&d->swr, &out, AV_SAMPLE_FMT_S16, AUDIO_RATE, &in,
                                d->codec->sample_fmt, d->codec->sample_rate, 0, NULL);
    av_channel_layout_uninit(&in);
    if (r < 0 || av_sample_fmt_is_planar(d->codec->sample_fmt))
        return ERR_UNSUPPORTED;
    return swr_init(d->swr) < 0 ? ERR_UNSUPPORTED : 0;
}

struct audio_device *audio_capture_open(const char *format, const char *name, char *reason,
                                        size_t cap, int *err)
{
    struct audio_device *d = calloc(1, sizeof(*d));
    *err = d ? open_input(d, format, name, reason, cap)
             : err_say(reason, cap, ERR_NO_MEMORY, "--sound %s:%s: no memory", format, name);
    if (*err)
        goto close;
    *err = open_codec(d);
    if (!*err)
        return d;
    err_say(reason, cap, *err, "--sound %s:%s: the device's audio format cannot be used (%s)",
            format, name, err_text(*err));

close:
    audio_capture_close(d);
    return NULL;
}

void audio_capture_close(struct audio_device *d)
{
    if (!d)
        return;
    swr_free(&d->swr);
    av_frame_free(&d->frame);
    av_packet_free(&d->packet);
    avcodec_free_context(&d->codec);
    avformat_close_input(&d->format);
    free(d);
}

int audio_capture_read(struct audio_device *d, int16_t out[AUDIO_CAPTURE_PIECE * AUDIO_CHANNELS],
                       char *reason, size_t cap)
{
    int r = av_read_frame(d->format, d->packet);
    if (r < 0)
        return err_say(reason, cap, ERR_IO, "the device delivers no more audio (%s)",
                       av_err2str(r));
    r = avcodec_send_packet(d->codec, d->packet);
    av_packet_unref(d->packet);
    if (r < 0 || avcodec_receive_frame(d->codec, d->frame) < 0)
        return 0;
    uint8_t *to[1] = {(uint8_t *)out};
    const uint8_t *from[1] = {d->frame->data[0]};
    int count = swr_convert(d->swr, to, AUDIO_CAPTURE_PIECE, from, d->frame->nb_samples);
    return count > 0 ? count : 0;
}
