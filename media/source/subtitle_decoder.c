// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/subtitle_decoder.h"

#include <libavcodec/avcodec.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

#define NO_DURATION (3 * USEC_PER_SEC) // how long a cue is shown that does not say it

struct subtitle_decoder {
    AVCodecContext *codec; // owned
    AVRational time_base;
};

// Encoding -1: the first strong character of a line says its direction.
static const char plain_head[] =
    "[Script Info]\nScriptType: v4.00+\nPlayResX: 384\nPlayResY: 288\nWrapStyle: 0\n"
    "ScaledBorderAndShadow: yes\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize, PrimaryColour, "
    "SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, "
    "ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, "
    "Encoding\nStyle: Default,sans-serif,20,&Hffffff,&Hffffff,&H0,&H0,0,0,0,0,100,100,0,0,1,1.2,"
    "0,2,10,10,12,-1\n";

bool subtitle_decoder_is_text(int codec)
{
    return codec == AV_CODEC_ID_SUBRIP || codec == AV_CODEC_ID_TEXT ||
           codec == AV_CODEC_ID_WEBVTT || codec == AV_CODEC_ID_ASS || codec == AV_CODEC_ID_SSA ||
           codec == AV_CODEC_ID_MOV_TEXT;
}

struct subtitle_decoder *subtitle_decoder_new(const AVStream *stream)
{
    const AVCodec *codec = avcodec_find_decoder(stream->codecpar->codec_id);
    struct subtitle_decoder *d = codec ? calloc(1, sizeof(*d)) : NULL;
    if (!d)
        return NULL;
    d->time_base = stream->time_base;
    d->codec = avcodec_alloc_context3(codec);
    if (d->codec && avcodec_parameters_to_context(d->codec, stream->codecpar) >= 0) {
        d->codec->pkt_timebase = stream->time_base;
        if (avcodec_open2(d->codec, codec, NULL) >= 0)
            return d;
    }
    subtitle_decoder_free(d);
    return NULL;
}

void subtitle_decoder_free(struct subtitle_decoder *d)
{
    if (!d)
        return;
    avcodec_free_context(&d->codec);
    free(d);
}

static bool is_script(const struct subtitle_decoder *d)
{
    return d->codec->codec_id == AV_CODEC_ID_ASS || d->codec->codec_id == AV_CODEC_ID_SSA;
}

bool subtitle_decoder_head(const struct subtitle_decoder *d, char out[SUBTITLE_HEAD])
{
    if (is_script(d) && d->codec->subtitle_header && d->codec->subtitle_header_size > 0)
        return subtitle_head((const char *)d->codec->subtitle_header,
                             strnlen((const char *)d->codec->subtitle_header,
                                     (size_t)d->codec->subtitle_header_size),
                             out);
    return subtitle_head(plain_head, strlen(plain_head), out);
}

int subtitle_decoder_add(struct subtitle_decoder *d, AVPacket *packet, struct subtitle_list *list)
{
    AVSubtitle all = {0};
    int got = 0, err = 0;
    AVRational us = {1, USEC_PER_SEC};
    struct subtitle_cue cue;
    if (packet->pts == AV_NOPTS_VALUE || !packet->data)
        return 0;
    cue.begin = av_rescale_q(packet->pts, d->time_base, us);
    cue.end = packet->duration > 0 ? av_rescale_q(packet->duration, d->time_base, us) : NO_DURATION;
    if (cue.begin < 0 || cue.begin > SUBTITLE_LAST || cue.end < 0 || cue.end > SUBTITLE_LAST)
        return 0;
    cue.end += cue.begin;
    if (avcodec_decode_subtitle2(d->codec, &all, &got, packet) < 0)
        return 0;
    for (unsigned i = 0; got && i < all.num_rects && !err; i++) {
        if (all.rects[i]->type != SUBTITLE_ASS || !all.rects[i]->ass)
            continue;
        err = subtitle_event(all.rects[i]->ass, cue.text) ? subtitle_list_add(list, &cue)
                                                          : ERR_TOO_BIG;
    }
    avsubtitle_free(&all);
    return err;
}
