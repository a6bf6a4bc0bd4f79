// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/stream_follow.h"

#include <libavutil/mathematics.h>
#include <string.h>

static bool is_kind(const AVFormatContext *format, unsigned i, enum AVMediaType kind)
{
    return i < format->nb_streams && format->streams[i]->codecpar->codec_type == kind;
}

static enum AVMediaType kind_of(const AVFormatContext *format, int i)
{
    enum AVMediaType kind = format->streams[i]->codecpar->codec_type;
    bool counts = kind == AVMEDIA_TYPE_VIDEO || kind == AVMEDIA_TYPE_AUDIO;
    return counts ? kind : AVMEDIA_TYPE_UNKNOWN;
}

static bool is_before(const AVStream *a, const AVStream *b, int64_t a_at, int64_t b_at)
{
    return av_compare_ts(av_sat_add64(a_at, av_rescale_q(1, (AVRational){1, 1}, a->time_base)),
                         a->time_base, b_at, b->time_base) < 0;
}

void stream_follow_init(struct stream_follow *f, const AVFormatContext *format)
{
    const char *name = format->iformat->name;
    *f = (struct stream_follow){.rule = FOLLOW_NONE};
    if (strcmp(name, "mpegts") == 0 && format->nb_programs == 1 && format->nb_streams > 0)
        *f = (struct stream_follow){.rule = FOLLOW_PROGRAM, .tracks = (int)format->nb_streams};
    else if (strcmp(name, "mpeg") == 0)
        f->rule = FOLLOW_ORDER;
    else if (strcmp(name, "flv") == 0)
        f->rule = FOLLOW_KIND;
}

// Returns true if the stream begins behind the file's first one.
static bool is_later(const AVFormatContext *format, int i)
{
    const AVStream *s = format->streams[i];
    for (int k = 0; k < i && s->start_time != AV_NOPTS_VALUE; k++) {
        const AVStream *other = format->streams[k];
        if (other->start_time != AV_NOPTS_VALUE &&
            is_before(other, s, other->start_time, s->start_time))
            return true;
    }
    return false;
}

// Returns true if one of the streams before it is of its kind.
static bool is_second(const AVFormatContext *format, int i)
{
    enum AVMediaType kind = kind_of(format, i);
    for (int k = 0; k < i; k++)
        if (kind != AVMEDIA_TYPE_UNKNOWN && kind_of(format, k) == kind)
            return true;
    return false;
}

void stream_follow_probed(struct stream_follow *f, const AVFormatContext *format)
{
    int count = (int)format->nb_streams;
    if (f->rule != FOLLOW_PROGRAM)
        for (f->tracks = 0; f->tracks < count; f->tracks++)
            if (f->rule != FOLLOW_NONE && is_second(format, f->tracks) &&
                (f->rule == FOLLOW_KIND || is_later(format, f->tracks)))
                break;
    for (int i = 0; i < f->tracks && i < STREAM_FOLLOW_MAX; i++) {
        f->of[i].track = i;
        f->of[i].is_known = true;
    }
}

// Returns the place of the stream among those of its kind in its programme; -1: it is in none.
static int place_in_program(const AVFormatContext *format, int stream, enum AVMediaType kind)
{
    for (unsigned p = 0; p < format->nb_programs; p++) {
        const AVProgram *program = format->programs[p];
        int place = 0;
        for (unsigned i = 0; i < program->nb_stream_indexes; i++) {
            if (program->stream_index[i] == (unsigned)stream)
                return place;
            place += is_kind(format, program->stream_index[i], kind);
        }
    }
    return -1;
}

// Returns the place of the stream among those of its kind that begin with it.
static int place_in_order(const struct stream_follow *f, const AVFormatContext *format, int stream,
                          enum AVMediaType kind)
{
    int place = 0;
    for (int i = f->tracks; i < stream; i++)
        place += is_kind(format, (unsigned)i, kind) && f->of[i].has_begun &&
                 !is_before(format->streams[i], format->streams[stream], f->of[i].begin,
                            f->of[stream].begin);
    return place;
}

// Finds which track the stream continues, of which a packet was read.
static void find_track(struct stream_follow *f, const AVFormatContext *format, int stream)
{
    enum AVMediaType kind = kind_of(format, stream);
    int count = 0, place = -1;
    for (int i = 0; i < f->tracks; i++)
        count += is_kind(format, (unsigned)i, kind);
    if (f->rule == FOLLOW_PROGRAM)
        place = place_in_program(format, stream, kind);
    else if (f->rule == FOLLOW_ORDER)
        place = place_in_order(f, format, stream, kind);
    else if (f->rule == FOLLOW_KIND)
        place = 0;
    if (place < 0 && count == 1) // the program map was read already that comes after it
        place = 0;
    f->of[stream].track = -1;
    f->of[stream].is_known = place >= 0 || f->rule == FOLLOW_NONE || kind == AVMEDIA_TYPE_UNKNOWN;
    for (int i = 0; i < f->tracks && place >= 0 && kind != AVMEDIA_TYPE_UNKNOWN; i++)
        if (is_kind(format, (unsigned)i, kind) && place-- == 0)
            f->of[stream].track = i;
}

// A track and what seemed to continue it are read in turn: they are two.
static void part(struct stream_follow *f, int track, int64_t at)
{
    for (int i = f->tracks; i < STREAM_FOLLOW_MAX; i++)
        if (f->of[i].has_begun && f->of[i].track == track && at > f->of[i].from)
            f->of[i].track = -1;
}

bool stream_follow_note(struct stream_follow *f, const AVFormatContext *format,
                        const AVPacket *packet)
{
    int i = packet->stream_index;
    if (i >= STREAM_FOLLOW_MAX || f->rule == FOLLOW_NONE)
        return true;
    if (!f->of[i].has_begun && packet->pos >= 0) {
        int64_t at = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
        f->of[i].begin = at != AV_NOPTS_VALUE ? at : INT64_MIN;
        f->of[i].from = packet->pos;
        f->of[i].has_begun = true;
    }
    if (!f->of[i].is_known)
        find_track(f, format, i);
    if (f->rule == FOLLOW_ORDER && i < f->tracks && packet->pos >= 0)
        part(f, i, packet->pos);
    int track = f->of[i].track;
    if (f->rule == FOLLOW_KIND || packet->pos < 0 || track < 0)
        return true;
    bool is_leftover = packet->pos < f->of[track].newest;
    if (!is_leftover)
        f->of[track].newest = packet->pos;
    return !is_leftover;
}

bool stream_follow_is_new(const struct stream_follow *f, const AVPacket *packet)
{
    int i = packet->stream_index;
    return f->rule == FOLLOW_ORDER && i >= f->tracks && i < STREAM_FOLLOW_MAX && packet->pos >= 0 &&
           packet->pos == f->of[i].from && f->of[i].track >= 0;
}

int stream_follow_track(const struct stream_follow *f, int stream)
{
    if (f->rule == FOLLOW_NONE || stream < f->tracks)
        return stream;
    return stream < STREAM_FOLLOW_MAX && f->of[stream].is_known ? f->of[stream].track : -1;
}

int stream_follow_seek(struct stream_follow *f, int track, int64_t at)
{
    int stream = track;
    int64_t begin = INT64_MIN;
    for (int i = 0; i < STREAM_FOLLOW_MAX; i++) {
        f->of[i].newest = 0;
        if (i >= f->tracks && f->of[i].has_begun && f->of[i].track == track &&
            f->of[i].begin <= at && f->of[i].begin > begin) {
            stream = i;
            begin = f->of[i].begin;
        }
    }
    return stream;
}
