// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/audio/aac_encoder.h"

#include <assert.h>
#include <libavcodec/avcodec.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"

struct aac_encoder {
    AVCodecContext *codec; // owned
    AVFrame *frame;        // owned; its buffer is used again
    AVPacket *packet;      // owned
    int64_t position;      // media time of pcm[0], in samples
    int64_t last;          // position of the last packet
    int count;             // samples in pcm
    int16_t pcm[(AUDIO_PACKET_MAX + AAC_FRAME) * AUDIO_CHANNELS];
};

static AVCodecContext *open_codec(int bitrate_bps)
{
    const AVCodec *codec = avcodec_find_encoder_by_name("aac");
    AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!c)
        return NULL;
    c->bit_rate = bitrate_bps;
    c->sample_rate = AUDIO_RATE;
    c->sample_fmt = AV_SAMPLE_FMT_FLTP;
    c->profile = FF_PROFILE_AAC_LOW;
    c->time_base = (AVRational){1, AUDIO_RATE};
    c->flags = AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT;
    c->thread_count = 1;
    av_channel_layout_default(&c->ch_layout, AUDIO_CHANNELS);
    if (avcodec_open2(c, codec, NULL) < 0 || c->frame_size != AAC_FRAME)
        avcodec_free_context(&c);
    return c;
}

struct aac_encoder *aac_encoder_new(int bitrate_bps)
{
    struct aac_encoder *e = calloc(1, sizeof(*e));
    if (!e)
        return NULL;
    e->position = INT64_MIN / 2;
    e->last = INT64_MIN;
    e->codec = open_codec(bitrate_bps);
    e->frame = av_frame_alloc();
    e->packet = av_packet_alloc();
    if (e->codec && e->frame && e->packet) {
        e->frame->nb_samples = AAC_FRAME;
        e->frame->format = e->codec->sample_fmt;
        e->frame->sample_rate = AUDIO_RATE;
        av_channel_layout_default(&e->frame->ch_layout, AUDIO_CHANNELS);
        if (av_frame_get_buffer(e->frame, 0) == 0)
            return e;
    }
    log_error("cannot create the AAC encoder");
    aac_encoder_free(e);
    return NULL;
}

void aac_encoder_free(struct aac_encoder *e)
{
    if (!e)
        return;
    av_packet_free(&e->packet);
    av_frame_free(&e->frame);
    avcodec_free_context(&e->codec);
    free(e);
}

void aac_encoder_push(struct aac_encoder *e, int64_t position, const int16_t *pcm, int count)
{
    assert(count >= 0 && count <= AUDIO_PACKET_MAX);
    if (position < e->position + e->count)
        return;
    if (position != e->position + e->count) {
        e->position = position;
        e->count = 0;
    }
    assert(e->count < AAC_FRAME); // the caller pulls all packets after each push
    memcpy(e->pcm + e->count * AUDIO_CHANNELS, pcm, (size_t)count * AUDIO_CHANNELS * sizeof(*pcm));
    e->count += count;
}

static bool take_packet(struct aac_encoder *e, struct aac_packet *out)
{
    if (avcodec_receive_packet(e->codec, e->packet) < 0)
        return false;
    bool good = e->packet->size > 0 && (size_t)e->packet->size <= sizeof(out->data) &&
                e->packet->pts > e->last;
    if (good) {
        out->position = e->packet->pts;
        out->bytes = (size_t)e->packet->size;
        memcpy(out->data, e->packet->data, out->bytes);
        e->last = out->position;
    }
    av_packet_unref(e->packet);
    return good;
}

static bool encode_frame(struct aac_encoder *e)
{
    if (av_frame_make_writable(e->frame) < 0)
        return false;
    for (int channel = 0; channel < AUDIO_CHANNELS; channel++) {
        float *plane = (float *)(void *)e->frame->extended_data[channel];
        for (int i = 0; i < AAC_FRAME; i++)
            plane[i] = (float)e->pcm[i * AUDIO_CHANNELS + channel] / 32768.0F;
    }
    e->frame->pts = e->position;
    bool sent = avcodec_send_frame(e->codec, e->frame) == 0;
    e->position += AAC_FRAME;
    e->count -= AAC_FRAME;
    memmove(e->pcm, e->pcm + AAC_FRAME * AUDIO_CHANNELS,
            (size_t)e->count * AUDIO_CHANNELS * sizeof(*e->pcm));
    return sent;
}

bool aac_encoder_pull(struct aac_encoder *e, struct aac_packet *out)
{
    while (!take_packet(e, out))
        if (e->count < AAC_FRAME || !encode_frame(e))
            return false;
    return true;
}
