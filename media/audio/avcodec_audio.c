// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/audio/avcodec_audio.h"

#include <libavcodec/avcodec.h>
#include <libavutil/log.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "media/audio/resampler.h"
#include "media/convert/convert.h"

struct avcodec_audio {
    AVCodecContext *codec; // owned, as are the next ones
    AVFrame *frame;
    AVPacket *packet;
    struct resampler *resampler;
    int count; // samples in pcm
    int16_t pcm[AVCODEC_AUDIO_MAX_PCM * AUDIO_CHANNELS];
    uint8_t unit[AVCODEC_AUDIO_MAX_BYTES + AV_INPUT_BUFFER_PADDING_SIZE];
};

static enum AVCodecID id_of(enum sdp_audio_codec codec)
{
    switch (codec) {
    case SDP_AUDIO_AAC:
        return AV_CODEC_ID_AAC;
    case SDP_AUDIO_PCMU:
        return AV_CODEC_ID_PCM_MULAW;
    case SDP_AUDIO_PCMA:
        return AV_CODEC_ID_PCM_ALAW;
    case SDP_AUDIO_L16:
        return AV_CODEC_ID_PCM_S16BE;
    case SDP_AUDIO_G726:
        return AV_CODEC_ID_ADPCM_G726LE;
    case SDP_AUDIO_G726_AAL2:
        return AV_CODEC_ID_ADPCM_G726;
    default:
        return AV_CODEC_ID_NONE;
    }
}

static AVCodecContext *open_codec(const struct sdp_audio *format)
{
    const AVCodec *codec = avcodec_find_decoder(id_of(format->codec));
    AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!c)
        return NULL;
    c->thread_count = 1;
    c->log_level_offset = AV_LOG_TRACE; // silence libavcodec: a unit that is broken is silence
    c->sample_rate = format->clock_rate;
    c->bits_per_coded_sample = format->bits;
    if (format->codec != SDP_AUDIO_AAC)
        av_channel_layout_default(&c->ch_layout, format->channels);
    if (format->config_bytes) {
        size_t bytes = (size_t)format->config_bytes;
        c->extradata = av_mallocz(bytes + AV_INPUT_BUFFER_PADDING_SIZE);
        if (c->extradata) {
            memcpy(c->extradata, format->config, bytes);
            c->extradata_size = format->config_bytes;
        }
    }
    if (avcodec_open2(c, codec, NULL) < 0)
        avcodec_free_context(&c);
    return c;
}

static AVCodecContext *open_codec_of(const AVCodecParameters *format)
{
    const AVCodec *codec = avcodec_find_decoder(format->codec_id);
    AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!c)
        return NULL;
    c->thread_count = 1;
    c->log_level_offset = AV_LOG_TRACE;
    if (avcodec_parameters_to_context(c, format) < 0 || avcodec_open2(c, codec, NULL) < 0)
        avcodec_free_context(&c);
    return c;
}

// Takes over `codec`; NULL: it could not be opened. `id`: for the message.
static struct avcodec_audio *decode_by(AVCodecContext *codec, enum AVCodecID id)
{
    libav_log_to_log();
    struct avcodec_audio *d = calloc(1, sizeof(*d));
    if (!d) {
        avcodec_free_context(&codec);
        goto failed;
    }
    d->codec = codec;
    d->frame = av_frame_alloc();
    d->packet = av_packet_alloc();
    d->resampler = resampler_new(AUDIO_CHANNELS, audio_mix_default());
    if (d->codec && d->frame && d->packet && d->resampler)
        return d;
failed:
    log_error("cannot decode the audio: libavcodec has no %s%s", avcodec_get_name(id),
              id == AV_CODEC_ID_AAC ? ", or does not read its configuration" : "");
    avcodec_audio_free(d);
    return NULL;
}

struct avcodec_audio *avcodec_audio_new(const struct sdp_audio *format)
{
    return decode_by(open_codec(format), id_of(format->codec));
}

struct avcodec_audio *avcodec_audio_new_of(const AVCodecParameters *format)
{
    return decode_by(open_codec_of(format), format->codec_id);
}

void avcodec_audio_free(struct avcodec_audio *d)
{
    if (!d)
        return;
    resampler_free(d->resampler);
    av_packet_free(&d->packet);
    av_frame_free(&d->frame);
    avcodec_free_context(&d->codec);
    free(d);
}

// Appends the frame to pcm. *before: samples that the resampler held.
static void convert(struct avcodec_audio *d, int *before)
{
    if (!d->count)
        *before = resampler_held(d->resampler);
    d->count += resampler_run(d->resampler, d->frame, d->pcm + d->count * AUDIO_CHANNELS,
                              AVCODEC_AUDIO_MAX_PCM - d->count);
}

int avcodec_audio_decode(struct avcodec_audio *d, const uint8_t *data, size_t len,
                         const int16_t **pcm, int *before)
{
    *pcm = d->pcm;
    *before = d->count = 0;
    if (len == 0 || len > AVCODEC_AUDIO_MAX_BYTES)
        return 0;
    memcpy(d->unit, data, len);
    memset(d->unit + len, 0, AV_INPUT_BUFFER_PADDING_SIZE);
    d->packet->data = d->unit;
    d->packet->size = (int)len;
    if (avcodec_send_packet(d->codec, d->packet) == 0)
        while (d->count < AVCODEC_AUDIO_MAX_PCM && avcodec_receive_frame(d->codec, d->frame) == 0)
            convert(d, before);
    av_frame_unref(d->frame);
    return d->count;
}
