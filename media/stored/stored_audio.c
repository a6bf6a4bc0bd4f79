// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/stored_audio.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/audio_fifo.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/audio/resampler.h"
#include "media/coded/audio.h"
#include "media/source/audio_track.h"
#include "media/source/media_input.h"
#include "media/source/track_notes.h"
#include "media/stored/stored_parts.h"

// Differences of the file's own time stamps, in samples. Clock jumps are skipped, as for pictures
// (source_file.c).
enum {
    GAP = STORED_AUDIO_RATE / 20,         // smaller gaps are rounding
    MAX_GAP = 60 * STORED_AUDIO_RATE,     // larger gaps are clock jumps
    MAX_BACKWARD = 1 * STORED_AUDIO_RATE, // larger steps backwards are clock jumps
    SILENCE = STORED_AUDIO_RATE,          // max. samples of silence written at a time
};

// The first record of the part is not a packet but the encoder's header (OpusHead). All pointers
// are owned, except `format` and `stream`.
struct audio {
    struct media_input *input;
    AVFormatContext *format; // borrowed from `input`
    AVCodecContext *decoder;
    AVCodecContext *encoder;
    struct resampler resampler;
    AVAudioFifo *fifo; // samples at the encoder's rate and format
    AVPacket *packet;
    AVFrame *frame;
    FILE *out;
    AVStream *stream; // borrowed from `format`
    int64_t begin;    // the file's time at the beginning of the video, in samples
    bool placed;      // `next` is set
    int64_t next;     // next sample for the encoder, counted from the beginning of the video
};

void stored_audio_list(const char *path, const char *track, struct stored_audio_tracks *out)
{
    char reason[MEDIA_INPUT_REASON];
    int err;
    const AVCodec *codec;
    *out = (struct stored_audio_tracks){0};
    struct media_input *in = media_input_open(path, NULL, NULL, reason, &err);
    int first = in && media_input_probe(in, reason) == 0
                    ? audio_track_find(media_input_format(in), path, track, &codec)
                    : -1;
    if (first >= 0) {
        const AVFormatContext *f = media_input_format(in);
        for (int i = -1; i < (int)f->nb_streams && out->count < SDP_AUDIO_TRACKS; i++) {
            int at = i < 0 ? first : i; // the first one first
            if (i == first || f->streams[at]->codecpar->codec_type != AVMEDIA_TYPE_AUDIO)
                continue;
            out->of[out->count].number = audio_track_count(f, at) + 1;
            track_notes_name(f->streams[at], out->of[out->count++].name, SDP_TRACK_NAME);
        }
        out->film_count = audio_track_count(f, (int)f->nb_streams);
    }
    media_input_free(in);
}

static int open_decoder(struct audio *s, const char *path, int number)
{
    char track[16];
    snprintf(track, sizeof(track), "%d", number);
    const AVCodec *codec = NULL;
    char reason[MEDIA_INPUT_REASON];
    int err;
    s->input = media_input_open(path, NULL, NULL, reason, &err);
    if (!s->input || media_input_probe(s->input, reason) != 0)
        return ERR_UNSUPPORTED;
    s->format = media_input_format(s->input);
    int i = audio_track_find(s->format, path, track, &codec);
    if (i == AVERROR_STREAM_NOT_FOUND)
        return 1;
    if (i < 0)
        return ERR_UNSUPPORTED;
    s->stream = s->format->streams[i];
    char used[TRACK_NOTES];
    track_notes_audio(s->stream->codecpar, used, sizeof(used));
    log_info("%s: audio track %d: %s", path, number, used);
    for (unsigned k = 0; k < s->format->nb_streams; k++)
        s->format->streams[k]->discard = (int)k == i ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    s->decoder = avcodec_alloc_context3(codec);
    if (!s->decoder)
        return ERR_NO_MEMORY;
    s->decoder->pkt_timebase = s->stream->time_base;
    return avcodec_parameters_to_context(s->decoder, s->stream->codecpar) < 0 ||
                   avcodec_open2(s->decoder, codec, NULL) < 0
               ? ERR_UNSUPPORTED
               : 0;
}

static int open_encoder(struct audio *s)
{
    const AVCodec *codec = avcodec_find_encoder_by_name("libopus");
    s->encoder = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!s->encoder)
        return ERR_UNSUPPORTED;
    bool mono = s->decoder->ch_layout.nb_channels == 1;
    AVChannelLayout layout =
        mono ? (AVChannelLayout)AV_CHANNEL_LAYOUT_MONO : (AVChannelLayout)AV_CHANNEL_LAYOUT_STEREO;
    s->encoder->sample_rate = STORED_AUDIO_RATE;
    s->encoder->sample_fmt = AV_SAMPLE_FMT_FLT;
    s->encoder->ch_layout = layout;
    s->encoder->bit_rate = STORED_AUDIO_BPS;
    s->encoder->time_base = (AVRational){1, STORED_AUDIO_RATE};
    s->encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    // As libopus by itself does: a tone takes half as many bits more if nothing bounds them, and
    // HTTP states what it takes (rendition_rates.h).
    if (av_opt_set(s->encoder->priv_data, "vbr", "constrained", 0) < 0 ||
        avcodec_open2(s->encoder, codec, NULL) < 0)
        return ERR_UNSUPPORTED;
    s->fifo = av_audio_fifo_alloc(AV_SAMPLE_FMT_FLT, layout.nb_channels, STORED_AUDIO_RATE);
    s->packet = av_packet_alloc();
    s->frame = av_frame_alloc();
    return s->fifo && s->packet && s->frame ? 0 : ERR_NO_MEMORY;
}

// Writes the packets that the encoder has ready to the part.
static int drain(struct audio *s)
{
    while (avcodec_receive_packet(s->encoder, s->packet) == 0) {
        struct stored_record r = {.bytes = (uint32_t)s->packet->size, .at = s->packet->pts};
        int err = stored_part_put(s->out, &r, s->packet->data);
        av_packet_unref(s->packet);
        if (err)
            return err;
    }
    return 0;
}

// Sends whole frames of the fifo to the encoder; at the end also the rest, padded with silence.
static int encode(struct audio *s, bool end)
{
    int size = s->encoder->frame_size;
    for (int left; (left = av_audio_fifo_size(s->fifo)) >= (end ? 1 : size);) {
        AVFrame *f = s->frame;
        f->nb_samples = size;
        f->format = s->encoder->sample_fmt;
        f->sample_rate = STORED_AUDIO_RATE;
        av_channel_layout_copy(&f->ch_layout, &s->encoder->ch_layout);
        if (av_frame_get_buffer(f, 0) < 0)
            return ERR_NO_MEMORY;
        av_samples_set_silence(f->data, 0, size, f->ch_layout.nb_channels, f->format);
        av_audio_fifo_read(s->fifo, (void **)f->data, left < size ? left : size);
        f->pts = s->next;
        s->next += size;
        int r = avcodec_send_frame(s->encoder, f);
        av_frame_unref(f);
        int err = r < 0 ? ERR_IO : drain(s);
        if (err)
            return err;
    }
    return 0;
}

// Queues samples for the encoder. Drops samples before the beginning of the video.
static int put(struct audio *s, float *samples, int count)
{
    int skip = 0;
    if (s->next < 0)
        skip = s->next < -(int64_t)count ? count : (int)-s->next;
    s->next += skip;
    void *at = samples + (ptrdiff_t)skip * s->encoder->ch_layout.nb_channels;
    if (count > skip && av_audio_fifo_write(s->fifo, &at, count - skip) < 0)
        return ERR_NO_MEMORY;
    return encode(s, false);
}

static int put_silence(struct audio *s, int64_t count)
{
    float *silence = calloc(SILENCE, (size_t)s->encoder->ch_layout.nb_channels * sizeof(float));
    int err = silence ? 0 : ERR_NO_MEMORY;
    for (; count > 0 && !err; count -= SILENCE)
        err = put(s, silence, count < SILENCE ? (int)count : SILENCE);
    free(silence);
    return err;
}

// Resamples `frame` (NULL: the samples that the resampler holds) and drops the first `left_out`
// samples of the result.
static int convert(struct audio *s, const AVFrame *frame, int left_out)
{
    int count = frame ? frame->nb_samples : 0, channels = s->encoder->ch_layout.nb_channels;
    int cap = swr_get_out_samples(s->resampler.swr, count);
    uint8_t *data = NULL;
    if (cap <= 0)
        return 0;
    if (av_samples_alloc(&data, NULL, channels, cap, AV_SAMPLE_FMT_FLT, 0) < 0)
        return ERR_NO_MEMORY;
    int got = swr_convert(s->resampler.swr, &data, cap,
                          frame ? (const uint8_t **)(uintptr_t)frame->extended_data : NULL, count);
    int err = 0;
    if (got > left_out)
        err = put(s, (float *)data + (ptrdiff_t)left_out * channels, got - left_out);
    av_freep(&data);
    return got < 0 ? ERR_NO_MEMORY : err;
}

// Returns the gap in samples between the end of the previous audio and the frame; 0 for the first
// frame and after a clock jump.
static int64_t gap_before(struct audio *s, const AVFrame *frame)
{
    if (frame->best_effort_timestamp == AV_NOPTS_VALUE)
        return 0;
    // The resampler outputs its delayed samples before those of this frame.
    int64_t position = av_rescale_q(frame->best_effort_timestamp, s->stream->time_base,
                                    (AVRational){1, STORED_AUDIO_RATE}) -
                       s->begin - swr_get_delay(s->resampler.swr, STORED_AUDIO_RATE);
    if (!s->placed)
        s->next = position;
    int64_t gap = position - s->next - av_audio_fifo_size(s->fifo);
    if (gap > MAX_GAP || gap < -MAX_BACKWARD) {
        s->begin += gap;
        return 0;
    }
    return gap > GAP || gap < -GAP ? gap : 0;
}

static int take(struct audio *s, const AVFrame *frame)
{
    // Skip frames that libswresample cannot convert.
    if (!resampler_set_up(&s->resampler, frame, AV_SAMPLE_FMT_FLT,
                          s->encoder->ch_layout.nb_channels))
        return 0;
    int64_t gap = gap_before(s, frame);
    s->placed = true;
    int err = gap > 0 ? put_silence(s, gap) : 0;
    return err ? err : convert(s, frame, gap < 0 ? (int)-gap : 0);
}

static int decode(struct audio *s, const AVPacket *packet)
{
    AVFrame *frame = av_frame_alloc();
    int err = frame ? 0 : ERR_NO_MEMORY;
    // Skip packets that do not decode.
    if (!err && avcodec_send_packet(s->decoder, packet) >= 0) {
        while (!err && avcodec_receive_frame(s->decoder, frame) == 0) {
            err = take(s, frame);
            av_frame_unref(frame);
        }
    }
    av_frame_free(&frame);
    return err;
}

static int transcode(struct audio *s)
{
    struct stored_record head = {.bytes = (uint32_t)s->encoder->extradata_size,
                                 .at = s->encoder->initial_padding};
    int err = stored_part_put(s->out, &head, s->encoder->extradata);
    AVPacket *packet = av_packet_alloc();
    if (!packet)
        return ERR_NO_MEMORY;
    while (!err && media_input_read(s->input, packet) >= 0) {
        if (packet->stream_index == s->stream->index)
            err = decode(s, packet);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    if (!err)
        err = decode(s, NULL);
    if (!err && s->resampler.swr)
        err = convert(s, NULL, 0);
    if (!err)
        err = encode(s, true);
    if (!err && avcodec_send_frame(s->encoder, NULL) >= 0)
        err = drain(s);
    return err;
}

int stored_audio_make(const char *path, usec_t origin, int number, const char *folder, int64_t part)
{
    struct audio s = {.begin = audio_samples(origin)};
    int err = open_decoder(&s, path, number);
    if (err == 0)
        err = open_encoder(&s);
    if (err == 0) {
        s.out = stored_part_begin(folder, part);
        err = s.out ? transcode(&s) : ERR_IO;
        if (s.out) {
            int ended = stored_part_end(s.out, folder, part, !err);
            err = err ? err : ended;
        }
    }
    av_frame_free(&s.frame);
    av_packet_free(&s.packet);
    av_audio_fifo_free(s.fifo);
    resampler_reset(&s.resampler);
    avcodec_free_context(&s.encoder);
    avcodec_free_context(&s.decoder);
    media_input_free(s.input);
    if (err == ERR_UNSUPPORTED)
        log_error("%s: cannot decode the file's audio", path);
    return err;
}
