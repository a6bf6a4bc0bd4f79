// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/audio/resampler.h"

#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
#include <libswresample/swresample.h>

#include "media/coded/audio.h"

void resampler_reset(struct resampler *r)
{
    swr_free(&r->swr);
}

bool resampler_set_up(struct resampler *r, const AVFrame *f, int format, int channels)
{
    if (f->nb_samples <= 0 || f->sample_rate <= 0 ||
        f->ch_layout.nb_channels > RESAMPLER_MAX_CHANNELS)
        return false;
    if (r->swr && r->rate == f->sample_rate && r->format == f->format &&
        r->channels == f->ch_layout.nb_channels)
        return true;
    swr_free(&r->swr);
    AVChannelLayout in = {0}, out = {0};
    if (f->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
        av_channel_layout_default(&in, f->ch_layout.nb_channels);
    else
        av_channel_layout_copy(&in, &f->ch_layout);
    av_channel_layout_default(&out, channels);
    int err = swr_alloc_set_opts2(&r->swr, &out, format, AUDIO_RATE, &in, f->format, f->sample_rate,
                                  0, NULL);
    av_channel_layout_uninit(&in);
    if (err < 0 || swr_init(r->swr) < 0) {
        swr_free(&r->swr);
        return false;
    }
    r->rate = f->sample_rate;
    r->format = f->format;
    r->channels = f->ch_layout.nb_channels;
    return true;
}
