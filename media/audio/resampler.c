// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/audio/resampler.h"

#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <math.h>
#include <stdlib.h>

#include "media/coded/audio_limiter.h"

static const float FULL = 32768;       // of 16 bits
static const float MIXED_PEAK = .891F; // -1 dB
static const double ANY_SUM = 1000;    // libswresample lowers no sum of coefficients

struct resampler {
    int channels; // of the output
    struct audio_mix mix;
    SwrContext *swr; // owned; NULL: no frame has come
    int rate;        // of the frames that `swr` takes
    int format;      // of those (enum AVSampleFormat)
    AVChannelLayout layout;
    float ceiling;
    struct audio_limiter *limiter; // owned
    float *piece;                  // owned
    unsigned piece_bytes;          // allocated
};

struct resampler *resampler_new(int channels, struct audio_mix mix)
{
    struct resampler *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->channels = channels;
    r->mix = mix;
    r->limiter = audio_limiter_new(channels);
    if (r->limiter)
        return r;
    free(r);
    return NULL;
}

static void end_input(struct resampler *r)
{
    swr_free(&r->swr);
    av_channel_layout_uninit(&r->layout);
}

void resampler_free(struct resampler *r)
{
    if (!r)
        return;
    end_input(r);
    audio_limiter_free(r->limiter);
    av_freep(&r->piece);
    free(r);
}

void resampler_reset(struct resampler *r)
{
    struct audio_limiter *fresh = audio_limiter_new(r->channels);
    end_input(r);
    if (!fresh) // what it holds is dropped all the same
        return;
    audio_limiter_free(r->limiter);
    r->limiter = fresh;
}

int resampler_held(const struct resampler *r)
{
    int held = audio_limiter_held(r->limiter);
    return held + (r->swr ? (int)swr_get_delay(r->swr, AUDIO_RATE) : 0);
}

// ---- The input

static bool is_same_input(const struct resampler *r, const AVFrame *f)
{
    return r->swr && r->rate == f->sample_rate && r->format == f->format &&
           av_channel_layout_compare(&r->layout, &f->ch_layout) == 0;
}

static double level_of(int db)
{
    if (db <= AUDIO_MIX_OFF)
        return 0;
    return db == AUDIO_MIX_DB ? M_SQRT1_2 : pow(10, db / 20.);
}

static int set_mix(struct resampler *r, const AVChannelLayout *in)
{
    static const double both[AUDIO_CHANNELS] = {1, 1};
    if (in->nb_channels == 1)
        return swr_set_matrix(r->swr, both, 1);
    int err = av_opt_set_double(r->swr, "center_mix_level", level_of(r->mix.centre_db), 0);
    if (err >= 0)
        err = av_opt_set_double(r->swr, "surround_mix_level", level_of(r->mix.surround_db), 0);
    // libswresample lowers this level by 3 dB, as it goes to two channels.
    if (err >= 0)
        err = av_opt_set_double(r->swr, "lfe_mix_level", level_of(r->mix.lfe_db) * M_SQRT2, 0);
    return err < 0 ? err : av_opt_set_double(r->swr, "rematrix_maxval", ANY_SUM, 0);
}

static bool begin_input(struct resampler *r, const AVFrame *f)
{
    AVChannelLayout in = {0}, out = {0};
    if (f->nb_samples <= 0 || f->sample_rate <= 0 ||
        f->ch_layout.nb_channels > RESAMPLER_MAX_CHANNELS)
        return false;
    if (f->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
        av_channel_layout_default(&in, f->ch_layout.nb_channels);
    else
        av_channel_layout_copy(&in, &f->ch_layout);
    av_channel_layout_default(&out, r->channels);
    int err = swr_alloc_set_opts2(&r->swr, &out, AV_SAMPLE_FMT_FLT, AUDIO_RATE, &in, f->format,
                                  f->sample_rate, 0, NULL);
    if (err >= 0)
        err = set_mix(r, &in);
    if (err >= 0)
        err = swr_init(r->swr);
    if (err >= 0)
        err = av_channel_layout_copy(&r->layout, &f->ch_layout);
    r->rate = f->sample_rate;
    r->format = f->format;
    r->ceiling = in.nb_channels > r->channels ? MIXED_PEAK : 1;
    av_channel_layout_uninit(&in);
    if (err < 0)
        end_input(r);
    return err >= 0;
}

// ---- The output

// Writes `count` samples of `piece`, at most `cap`; returns their number.
static int put(const struct resampler *r, int count, int16_t *out, int cap)
{
    count = count < cap ? count : cap;
    for (int i = 0; i < count * r->channels; i++)
        out[i] = (int16_t)lrintf(fminf(r->piece[i] * FULL, FULL - 1));
    return count;
}

// Converts the frame, or what libswresample holds (NULL).
static int convert(struct resampler *r, const AVFrame *f, int16_t *out, int cap)
{
    const uint8_t *in[RESAMPLER_MAX_CHANNELS];
    int planes = f && av_sample_fmt_is_planar(f->format) ? f->ch_layout.nb_channels : 1;
    for (int i = 0; f && i < planes; i++)
        in[i] = f->extended_data[i];
    int room = swr_get_out_samples(r->swr, f ? f->nb_samples : 0);
    if (room <= 0)
        return 0;
    av_fast_malloc(&r->piece, &r->piece_bytes, (size_t)(room * r->channels) * sizeof(*r->piece));
    if (!r->piece)
        return 0;
    uint8_t *to[1] = {(uint8_t *)r->piece};
    int count = swr_convert(r->swr, to, room, f ? in : NULL, f ? f->nb_samples : 0);
    count = audio_limiter_run(r->limiter, r->piece, count, r->ceiling, r->piece);
    return put(r, count, out, cap);
}

int resampler_run(struct resampler *r, const AVFrame *f, int16_t *out, int cap)
{
    int before = 0;
    if (!is_same_input(r, f)) {
        if (r->swr)
            before = convert(r, NULL, out, cap);
        end_input(r);
        if (!begin_input(r, f))
            return before;
    }
    return before + convert(r, f, out + before * r->channels, cap - before);
}

int resampler_flush(struct resampler *r, int16_t *out, int cap)
{
    int count = r->swr ? convert(r, NULL, out, cap) : 0;
    end_input(r);
    size_t bytes = (size_t)(AUDIO_LIMITER_AHEAD * r->channels) * sizeof(*r->piece);
    av_fast_malloc(&r->piece, &r->piece_bytes, bytes);
    if (!r->piece)
        return count;
    int held = audio_limiter_flush(r->limiter, r->piece);
    return count + put(r, held, out + count * r->channels, cap - count);
}
