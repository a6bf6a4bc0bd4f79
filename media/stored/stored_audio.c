// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/stored_audio.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/source/audio_source.h"
#include "media/source/audio_track.h"
#include "media/source/media_input.h"
#include "media/source/track_notes.h"
#include "media/stored/stored_parts.h"

// The first record of the part is not a packet but the encoder's header (OpusHead). All pointers
// are owned, except `job`.
struct audio {
    const struct stored_audio_job *job;
    struct audio_source *source;
    AVCodecContext *encoder;
    AVPacket *packet;
    AVFrame *frame;
    FILE *out;
};

void stored_audio_list(const char *path, const char *track, struct stored_audio_tracks *out)
{
    char reason[MEDIA_INPUT_REASON];
    int err;
    const AVCodec *codec;
    *out = (struct stored_audio_tracks){0};
    struct media_input *in = media_input_open(path, NULL, NULL, reason, &err);
    int first =
        in && media_input_probe(in, reason) == 0
            ? audio_track_find(media_input_format(in), media_input_tracks(in), path, track, &codec)
            : -1;
    if (first >= 0) {
        const AVFormatContext *f = media_input_format(in);
        int tracks = media_input_tracks(in);
        for (int i = -1; i < tracks && out->count < SDP_AUDIO_TRACKS; i++) {
            int at = i < 0 ? first : i; // the first one first
            if (i == first || !audio_track_is(f, at))
                continue;
            out->of[out->count].number = audio_track_count(f, at) + 1;
            track_notes_name(f->streams[at], out->of[out->count++].name, SDP_TRACK_NAME);
        }
        out->film_count = audio_track_count(f, tracks);
    }
    media_input_free(in);
}

// `keeps_mono`: see audio_source_file_open.
static int open_source(struct audio *s, bool keeps_mono)
{
    const struct stored_audio_job *job = s->job;
    char track[16];
    int err;
    snprintf(track, sizeof(track), "%d", job->number);
    s->source =
        audio_source_file_open(job->path, job->origin, track, job->mix, keeps_mono, NULL, &err);
    if (s->source && keeps_mono)
        log_info("%s: audio track %d: %s", job->path, job->number, s->source->name);
    return err == ERR_NOT_FOUND ? 1 : err;
}

static int open_encoder(struct audio *s)
{
    const AVCodec *codec = avcodec_find_encoder_by_name("libopus");
    s->encoder = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!s->encoder)
        return ERR_UNSUPPORTED;
    s->encoder->sample_rate = STORED_AUDIO_RATE;
    s->encoder->sample_fmt = AV_SAMPLE_FMT_S16;
    av_channel_layout_default(&s->encoder->ch_layout, s->source->channels);
    s->encoder->bit_rate = STORED_AUDIO_BPS;
    s->encoder->time_base = (AVRational){1, STORED_AUDIO_RATE};
    s->encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    // As libopus by itself does: a tone takes half as many bits more if nothing bounds them, and
    // HTTP states what it takes (rendition_rates.h).
    if (av_opt_set(s->encoder->priv_data, "vbr", "constrained", 0) < 0 ||
        avcodec_open2(s->encoder, codec, NULL) < 0)
        return ERR_UNSUPPORTED;
    s->packet = av_packet_alloc();
    s->frame = av_frame_alloc();
    return s->packet && s->frame ? 0 : ERR_NO_MEMORY;
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

// Reads the samples from `at` on into the frame, from the places of the film that belong there.
static void read_frame(struct audio *s, int64_t at)
{
    AVFrame *f = s->frame;
    int16_t *pcm = (int16_t *)(void *)f->data[0];
    for (int done = 0, count; done < f->nb_samples; done += count) {
        int64_t until, from = at + done, shift = stored_shifts_at(s->job->shifts, from, &until);
        int64_t left = f->nb_samples - done;
        count = (int)(until - from < left ? until - from : left);
        s->source->ops->read(s->source, from + shift, pcm + done * s->source->channels, count);
    }
}

static int encode(struct audio *s, int64_t at)
{
    AVFrame *f = s->frame;
    f->nb_samples = s->encoder->frame_size;
    f->format = s->encoder->sample_fmt;
    f->sample_rate = STORED_AUDIO_RATE;
    f->pts = at;
    av_channel_layout_copy(&f->ch_layout, &s->encoder->ch_layout);
    if (av_frame_get_buffer(f, 0) < 0)
        return ERR_NO_MEMORY;
    read_frame(s, at);
    int r = avcodec_send_frame(s->encoder, f);
    av_frame_unref(f);
    return r < 0 ? ERR_IO : drain(s);
}

// Returns true if the track began with one channel, and has more now.
static bool is_too_narrow(const struct audio *s)
{
    return s->source->channels == 1 && s->source->is_wider;
}

static int transcode(struct audio *s)
{
    struct stored_record head = {.bytes = (uint32_t)s->encoder->extradata_size,
                                 .at = s->encoder->initial_padding};
    int err = stored_part_put(s->out, &head, s->encoder->extradata);
    for (int64_t at = 0; at < s->job->samples && !err && !is_too_narrow(s);
         at += s->encoder->frame_size)
        err = encode(s, at);
    if (!err && avcodec_send_frame(s->encoder, NULL) >= 0)
        err = drain(s);
    return err;
}

static void close_audio(struct audio *s)
{
    av_frame_free(&s->frame);
    av_packet_free(&s->packet);
    avcodec_free_context(&s->encoder);
    audio_source_free(s->source);
}

// *is_wider: the part is not made, as the track begins with one channel, but goes on with more.
static int make(const struct stored_audio_job *job, bool keeps_mono, bool *is_wider)
{
    struct audio s = {.job = job};
    int err = open_source(&s, keeps_mono);
    if (err == 0)
        err = open_encoder(&s);
    if (err == 0) {
        s.out = stored_part_begin(job->folder, job->part);
        err = s.out ? transcode(&s) : ERR_IO;
        *is_wider = is_too_narrow(&s);
        if (s.out) {
            int ended = stored_part_end(s.out, job->folder, job->part, !err && !*is_wider);
            err = err || *is_wider ? err : ended;
        }
    }
    close_audio(&s);
    return err;
}

int stored_audio_make(const struct stored_audio_job *job)
{
    bool is_wider = false;
    int err = make(job, true, &is_wider);
    if (!err && is_wider)
        err = make(job, false, &is_wider);
    if (err == ERR_UNSUPPORTED)
        log_error("%s: cannot store the file's audio", job->path);
    return err;
}
