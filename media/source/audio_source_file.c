// SPDX-License-Identifier: GPL-2.0-or-later
// An audio stream of a file, read at the positions of the pictures. A read that follows the
// previous one continues without a seam; any other read seeks. The file may be hostile: it is
// opened as in video_file.c, and every search for audio is bounded.
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/audio/resampler.h"
#include "media/source/audio_source.h"
#include "media/source/audio_track.h"
#include "media/source/media_input.h"
#include "media/source/track_notes.h"

enum {
    HELD = 4 * AUDIO_RATE,  // max. samples decoded ahead
    PIECE = 2 * AUDIO_RATE, // max. samples of one frame; the rest is dropped
    AHEAD = AUDIO_RATE,     // samples; reads that far ahead decode, farther ones seek
    SEAM = 2,               // samples; rounding of the pictures' microseconds
    GAP = AUDIO_RATE / 20,  // samples; smaller gaps in the file's time stamps are rounding
    NEAR =
        10 * AUDIO_RATE, // samples between the audio's and the pictures' first times after a jump
    MAX_IDLE = 5000,     // packets without audio until the file counts as ended
};

struct audio_source_file {
    struct audio_source base;
    struct media_input *input; // owned
    AVFormatContext *format;   // borrowed from `input`
    AVCodecContext *codec;     // owned
    int track;
    AVStream *stream; // borrowed from `format`; the one that has the track now
    AVPacket *packet; // owned; while `is_changing`, the first one of the new codec
    AVFrame *frame;   // owned
    uint8_t *config;  // owned; the codec's, as the file has it
    size_t config_bytes;
    bool is_changing;            // the codec is drained, as the stream goes on with another one
    bool is_lost;                // audio that cannot be decoded was logged
    bool has_changed;            // and these are of the first change:
    AVStream *first_stream;      // borrowed; the one before it
    int64_t changed_at;          // the file's own time, in samples
    struct resampler *resampler; // owned
    int channels;                // of `pcm` and `piece`
    int64_t origin;              // the file's own time at media time 0, in samples
    int64_t place;               // that base.place was at the last read
    int64_t next;                // the file's own time just after the last read, in samples
    bool ended;
    bool placed;   // audio has come since the last seek, so `at` is known
    bool overlaps; // the last frame was dropped whole
    int64_t after; // with `placed`: the file's own time just after the last frame, in samples
    // The file's clock jumps, or has a long gap: `piece` has what comes after it, which waits until
    // it is read. `waiting`: its samples, 0 if there is no jump.
    int waiting;
    int64_t waiting_at; // the file's own time of piece[0], in samples
    int64_t at;         // the file's own time of pcm[0], in samples
    int count;          // samples in pcm
    int16_t pcm[HELD * AUDIO_CHANNELS];
    int16_t piece[PIECE * AUDIO_CHANNELS];
};

// ---- Decoding

static size_t bytes_of(const struct audio_source_file *s, int samples)
{
    return (size_t)samples * (size_t)s->channels * sizeof(*s->pcm);
}

// Appends the samples in `piece`. Fills gaps in the file's time stamps with silence; drops
// overlaps.
static void append(struct audio_source_file *s, int64_t position, int count)
{
    int64_t end = s->at + s->count;
    if (!s->placed) {
        s->at = end = position;
        s->placed = true;
    } else if (position < end - AUDIO_RATE || position > end + HELD) {
        s->waiting = count;
        s->waiting_at = position;
        return;
    }
    int64_t gap = position - end;
    if (gap > GAP) {
        int silence = (int)(gap < HELD - s->count ? gap : HELD - s->count);
        memset(s->pcm + s->count * s->channels, 0, bytes_of(s, silence));
        s->count += silence;
    }
    int tolerance = s->overlaps ? 0 : GAP; // an overlap is dropped to its end
    int skipped = gap < -tolerance ? (int)(-gap < count ? -gap : count) : 0;
    s->overlaps = skipped == count;
    count -= skipped;
    if (count > HELD - s->count)
        count = HELD - s->count;
    memcpy(s->pcm + s->count * s->channels, s->piece + skipped * s->channels, bytes_of(s, count));
    s->count += count;
}

// Continues after the jump.
static void end_waiting(struct audio_source_file *s)
{
    int count = s->waiting;
    s->waiting = s->count = 0;
    s->placed = false;
    append(s, s->waiting_at, count);
}

static bool take_frame(struct audio_source_file *s)
{
    int64_t pts = s->frame->best_effort_timestamp;
    int held = resampler_held(s->resampler);
    int64_t position = s->placed ? s->after : s->at;
    // The times of further frames of a PES packet are made up by libavformat, which does not know
    // of a new sample rate. Those have no place in the file.
    bool is_made_up =
        s->placed && s->frame->pkt_pos < 0 && s->format->iformat->flags & AVFMT_TS_DISCONT;
    if (pts != AV_NOPTS_VALUE && !is_made_up)
        position = av_rescale_q(pts, s->stream->time_base, (AVRational){1, AUDIO_RATE}) - held;
    s->base.is_wider |= s->frame->ch_layout.nb_channels > s->channels;
    int count = resampler_run(s->resampler, s->frame, s->piece, PIECE);
    s->after = position + count;
    if (count > 0)
        append(s, position, count);
    return count > 0;
}

// Takes what the resampler holds at the end of the file.
static bool take_rest(struct audio_source_file *s)
{
    int count = resampler_flush(s->resampler, s->piece, PIECE);
    if (count > 0)
        append(s, s->after, count);
    return count > 0;
}

// ---- The codec

// Returns the configuration that comes with the packet, outside of the stream, or NULL.
static const uint8_t *config_of(const AVPacket *packet, size_t *bytes)
{
    *bytes = 0;
    return av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, bytes);
}

// Returns true if the packet is not of the codec, and the configuration, that is open.
static bool is_other(const struct audio_source_file *s)
{
    size_t bytes;
    const uint8_t *config = config_of(s->packet, &bytes);
    return s->packet->stream_index != s->stream->index ||
           s->stream->codecpar->codec_id != s->codec->codec_id ||
           (config &&
            (bytes != s->config_bytes || (bytes && memcmp(config, s->config, bytes) != 0)));
}

// Opens the codec of the stream. `config`: in place of the one that the stream began with, or NULL.
static int open_codec(struct audio_source_file *s, const uint8_t *config, size_t bytes)
{
    const AVCodecParameters *p = s->stream->codecpar;
    const AVCodec *codec = avcodec_find_decoder(p->codec_id);
    if (!codec)
        return ERR_UNSUPPORTED;
    if (!config) {
        config = p->extradata;
        bytes = p->extradata_size > 0 ? (size_t)p->extradata_size : 0;
    }
    uint8_t *copy = av_mallocz(bytes + AV_INPUT_BUFFER_PADDING_SIZE);
    AVCodecContext *c = avcodec_alloc_context3(codec);
    int err = copy && c ? avcodec_parameters_to_context(c, p) : AVERROR(ENOMEM);
    if (err >= 0) {
        if (bytes)
            memcpy(copy, config, bytes);
        av_freep(&c->extradata);
        c->extradata = av_memdup(copy, bytes + AV_INPUT_BUFFER_PADDING_SIZE);
        c->extradata_size = c->extradata ? (int)bytes : 0;
        c->pkt_timebase = s->stream->time_base;
        c->thread_count = 1;
        err = avcodec_open2(c, codec, NULL);
    }
    if (err < 0) {
        av_free(copy);
        avcodec_free_context(&c);
        return err == AVERROR(ENOMEM) ? ERR_NO_MEMORY : ERR_UNSUPPORTED;
    }
    av_free(s->config);
    s->config = copy;
    s->config_bytes = bytes;
    avcodec_free_context(&s->codec);
    s->codec = c;
    return 0;
}

// The stream goes on with another codec or configuration, and what was decoded before has been
// taken. One that cannot be decoded becomes silence.
static void change_codec(struct audio_source_file *s)
{
    size_t bytes;
    const uint8_t *config = config_of(s->packet, &bytes);
    s->is_changing = false;
    if (!s->has_changed) {
        s->has_changed = true;
        s->first_stream = s->stream;
        s->changed_at = s->at + s->count;
    }
    s->stream = s->format->streams[s->packet->stream_index];
    if (open_codec(s, config, bytes) == 0) {
        (void)avcodec_send_packet(s->codec, s->packet);
    } else {
        if (!s->is_lost)
            log_warn("%s: its audio goes on in a way that cannot be decoded: it is silent from "
                     "there on",
                     s->format->url);
        s->is_lost = true;
        avcodec_flush_buffers(s->codec);
    }
    av_packet_unref(s->packet);
}

// Reading goes on before the first change.
static void begin_again(struct audio_source_file *s)
{
    AVStream *stream = s->stream;
    s->stream = s->first_stream;
    if (open_codec(s, NULL, 0) < 0)
        s->stream = stream;
}

static void feed(struct audio_source_file *s)
{
    int r = media_input_read(s->input, s->packet);
    if (r < 0) {
        avcodec_send_packet(s->codec, NULL);
        return;
    }
    if (media_input_track(s->input, s->packet->stream_index) == s->track) {
        s->is_changing = is_other(s);
        if (s->is_changing) {
            avcodec_send_packet(s->codec, NULL);
            return; // the packet waits until the codec is drained
        }
        (void)avcodec_send_packet(s->codec, s->packet); // a broken packet becomes silence
    }
    av_packet_unref(s->packet);
}

// Decodes more audio into pcm. Returns false at the end of the file.
static bool read_more(struct audio_source_file *s)
{
    for (int idle = 0; !s->ended && idle < MAX_IDLE; idle++) {
        int r = avcodec_receive_frame(s->codec, s->frame);
        if (r == 0 && take_frame(s))
            return true;
        if (r == AVERROR(EAGAIN))
            feed(s);
        else if (r == AVERROR_EOF && s->is_changing)
            change_codec(s);
        else if (r == AVERROR_EOF)
            break;
    }
    bool has_rest = !s->ended && take_rest(s);
    s->ended = true;
    return has_rest;
}

// ---- Reading

static void seek_to(struct audio_source_file *s, int64_t position)
{
    int64_t pts = av_rescale_q(position, (AVRational){1, AUDIO_RATE}, s->stream->time_base);
    bool has_place = s->place >= 0;
    if (media_input_seek(s->input, s->track, has_place ? s->place : pts,
                         has_place ? AVSEEK_FLAG_BYTE : AVSEEK_FLAG_BACKWARD) < 0 &&
        media_input_seek(s->input, s->track, 0, AVSEEK_FLAG_BYTE) < 0)
        return;
    avcodec_flush_buffers(s->codec);
    av_packet_unref(s->packet);
    s->is_changing = false;
    if (s->has_changed && position < s->changed_at) // FLV does not say so again
        begin_again(s);
    resampler_reset(s->resampler);
    s->count = s->waiting = 0;
    s->at = position;
    s->ended = s->placed = false;
}

static void drop_front(struct audio_source_file *s, int count)
{
    s->count -= count;
    s->at += count;
    memmove(s->pcm, s->pcm + count * s->channels, bytes_of(s, s->count));
}

// Returns true if reading goes on behind the jump: it has come there, or follows the pictures'
// clock. Both clocks may have the same times, so that no seek could tell them apart.
static bool is_behind_jump(const struct audio_source_file *s, int64_t want, int count, bool follows)
{
    if (!s->waiting)
        return false;
    int64_t ahead = s->waiting_at - want;
    return follows ? ahead < count && ahead >= 0 : ahead < NEAR && ahead > -NEAR;
}

// Returns true if `want` is neither in pcm nor soon after it.
static bool is_far(const struct audio_source_file *s, int64_t want)
{
    return want < s->at || want > s->at + s->count + AHEAD;
}

// Makes pcm begin at `want`, or later if there is no audio. Drops what is before.
static void find(struct audio_source_file *s, int64_t want, int count)
{
    bool moves = s->base.place != s->place;
    bool follows = !moves && want >= s->next - SEAM && want <= s->next + SEAM;
    s->place = s->base.place;
    // The pictures' clock may jump before the audio that comes after the jump was read.
    while (!moves && !follows && is_far(s, want) && s->count < AHEAD && !s->waiting && read_more(s))
        ;
    bool jumps = !moves && is_behind_jump(s, want, count, follows);
    bool seeks = moves || (!follows && !jumps && is_far(s, want));
    if (jumps)
        end_waiting(s);
    if (seeks)
        seek_to(s, want);
    while (s->at + s->count < want + count && (seeks || !s->waiting) && read_more(s)) {
        if (s->waiting && seeks) // on the way to the target
            end_waiting(s);
        if (s->count && s->at < want)
            drop_front(s, (int)(want - s->at < s->count ? want - s->at : s->count));
    }
    if (s->at < want)
        drop_front(s, (int)(want - s->at < s->count ? want - s->at : s->count));
}

static void file_read(struct audio_source *base, int64_t from, int16_t *out, int count)
{
    struct audio_source_file *s = (struct audio_source_file *)base;
    int64_t want = s->origin + from;
    if (want >= s->next - SEAM && want <= s->next + SEAM)
        want = s->next;
    find(s, want, count);
    s->next = want + count;
    memset(out, 0, bytes_of(s, count));
    int64_t silent = s->count ? s->at - want : count; // samples before the audio begins
    if (silent < count) {
        int have = count - (int)silent < s->count ? count - (int)silent : s->count;
        memcpy(out + silent * s->channels, s->pcm, bytes_of(s, have));
        drop_front(s, have);
    }
}

// ---- Opening

static void file_free(struct audio_source *base)
{
    struct audio_source_file *s = (struct audio_source_file *)base;
    resampler_free(s->resampler);
    av_free(s->config);
    av_frame_free(&s->frame);
    av_packet_free(&s->packet);
    avcodec_free_context(&s->codec);
    media_input_free(s->input);
    free(s);
}

static const struct audio_source_ops file_ops = {.read = file_read, .free = file_free};

static int open_track(struct audio_source_file *s, const char *path, const char *track)
{
    const AVCodec *codec = NULL;
    int tracks = media_input_tracks(s->input);
    int i = audio_track_find(s->format, tracks, path, track, &codec);
    if (i == AVERROR_STREAM_NOT_FOUND)
        return ERR_NOT_FOUND;
    if (i < 0)
        return ERR_UNSUPPORTED;
    s->track = i;
    s->stream = s->format->streams[i];
    s->base.track_count = audio_track_count(s->format, tracks);
    s->base.track_number = audio_track_count(s->format, i) + 1;
    track_notes_name(s->stream, s->base.track, sizeof(s->base.track));
    for (int k = 0; k < tracks; k++)
        if (k != i)
            s->format->streams[k]->discard = AVDISCARD_ALL;
    s->packet = av_packet_alloc();
    s->frame = av_frame_alloc();
    return s->packet && s->frame ? open_codec(s, NULL, 0) : ERR_NO_MEMORY;
}

struct audio_source *audio_source_file_open(const char *path, usec_t origin, const char *track,
                                            struct audio_mix mix, bool keeps_mono,
                                            struct media_guard *guard, int *err)
{
    struct audio_source_file *s = calloc(1, sizeof(*s));
    *err = ERR_NO_MEMORY;
    if (!s)
        return NULL;
    s->base.ops = &file_ops;
    s->origin = s->next = s->at = audio_samples(origin);
    s->place = s->base.place = -1;
    char reason[MEDIA_INPUT_REASON];
    s->input = media_input_open(path, NULL, guard, reason, err);
    if (!*err)
        *err = media_input_probe(s->input, reason);
    s->format = s->input ? media_input_format(s->input) : NULL;
    if (!*err)
        *err = open_track(s, path, track);
    if (!*err) {
        bool is_mono = s->stream->codecpar->ch_layout.nb_channels == 1;
        s->channels = s->base.channels = keeps_mono && is_mono ? 1 : AUDIO_CHANNELS;
        s->resampler = resampler_new(s->channels, mix);
        *err = s->resampler ? 0 : ERR_NO_MEMORY;
    }
    if (*err) {
        if (*err != ERR_NOT_FOUND)
            log_error("%s: cannot decode the file's audio (%s)", path, err_text(*err));
        file_free(&s->base);
        return NULL;
    }
    track_notes_audio(s->stream->codecpar, s->base.name, sizeof(s->base.name));
    return &s->base;
}
