// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/record_streams.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <string.h>

#include "common/base/err.h"
#include "media/coded/audio.h"
#include "media/rtp/h264.h"

// Returns the length of the parameter sets at the beginning of a key frame, with other NAL units
// between them.
static size_t parameter_bytes(const uint8_t *data, size_t len)
{
    size_t at = 0, end = 0;
    bool has_sps = false, has_pps = false;
    while (at + 4 < len) {
        size_t start = data[at + 2] == 1 ? at + 3 : at + 4;
        enum h264_nal_type type = h264_nal_type_of(data[start]);
        if (type >= H264_SLICE && type <= H264_IDR)
            break;
        has_sps |= type == H264_SPS;
        has_pps |= type == H264_PPS;
        at = start;
        while (at + 4 < len && !(data[at] == 0 && data[at + 1] == 0 &&
                                 (data[at + 2] == 1 || (data[at + 2] == 0 && data[at + 3] == 1))))
            at++;
        if (type == H264_SPS || type == H264_PPS)
            end = at;
    }
    return has_sps && has_pps ? end : 0;
}

static int set_extradata(AVCodecParameters *c, const uint8_t *data, size_t len)
{
    c->extradata = av_mallocz(len + AV_INPUT_BUFFER_PADDING_SIZE);
    if (!c->extradata)
        return ERR_NO_MEMORY;
    memcpy(c->extradata, data, len);
    c->extradata_size = (int)len;
    return 0;
}

// Reads the size of the pictures from the parameter sets.
static int set_size(AVCodecParameters *c, const struct record_packet *key)
{
    AVCodecContext *codec = avcodec_alloc_context3(NULL);
    AVCodecParserContext *parser = av_parser_init(AV_CODEC_ID_H264);
    int err = codec && parser ? 0 : ERR_NO_MEMORY;
    if (!err) {
        uint8_t *out;
        int bytes;
        codec->codec_id = AV_CODEC_ID_H264;
        parser->flags |= PARSER_FLAG_COMPLETE_FRAMES;
        av_parser_parse2(parser, codec, &out, &bytes, key->data, (int)key->bytes, AV_NOPTS_VALUE,
                         AV_NOPTS_VALUE, 0);
        c->width = parser->width;
        c->height = parser->height;
        err = c->width > 0 && c->height > 0 ? 0 : ERR_MALFORMED;
    }
    if (parser)
        av_parser_close(parser);
    avcodec_free_context(&codec);
    return err;
}

int record_streams_video(struct AVFormatContext *format, const struct record_packet *key)
{
    bool is_vp9 = key->width > 0; // without CodecPrivate: each key frame has what a decoder needs
    size_t sets = is_vp9 ? 0 : parameter_bytes(key->data, key->bytes);
    if (!sets && !is_vp9)
        return ERR_MALFORMED;
    AVStream *s = avformat_new_stream(format, NULL);
    if (!s)
        return ERR_NO_MEMORY;
    s->codecpar->codec_type = AVMEDIA_TYPE_VIDEO;
    s->codecpar->codec_id = is_vp9 ? AV_CODEC_ID_VP9 : AV_CODEC_ID_H264;
    s->time_base = (AVRational){1, 1000};
    s->avg_frame_rate = (AVRational){key->fps.num, key->fps.den};
    if (is_vp9) {
        s->codecpar->width = key->width;
        s->codecpar->height = key->height;
        return 0;
    }
    int err = set_size(s->codecpar, key);
    return err ? err : set_extradata(s->codecpar, key->data, sets);
}

int record_streams_audio(struct AVFormatContext *format)
{
    // RFC 7845, 5.1: version 1, two channels, no samples to skip, 48 kHz, no gain, mapping family 0
    static const uint8_t head[] = {'O', 'p', 'u',  's',  'H', 'e', 'a', 'd', 1, AUDIO_CHANNELS,
                                   0,   0,   0x80, 0xbb, 0,   0,   0,   0,   0};
    AVStream *s = avformat_new_stream(format, NULL);
    if (!s)
        return ERR_NO_MEMORY;
    s->codecpar->codec_type = AVMEDIA_TYPE_AUDIO;
    s->codecpar->codec_id = AV_CODEC_ID_OPUS;
    s->codecpar->sample_rate = AUDIO_RATE;
    av_channel_layout_default(&s->codecpar->ch_layout, AUDIO_CHANNELS);
    s->time_base = (AVRational){1, 1000};
    return set_extradata(s->codecpar, head, sizeof(head));
}
