// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/audio_track.h"

#include <string.h>
#include <strings.h>

#include "common/base/log.h"
#include "common/base/scan.h"
#include "media/source/track_notes.h"

static bool has_language(const AVStream *s, const char *language)
{
    const AVDictionaryEntry *e = av_dict_get(s->metadata, "language", NULL, 0);
    return e && strcasecmp(e->value, language) == 0;
}

// libavformat has no const variants of what it does not change.
static AVFormatContext *variable(const AVFormatContext *format)
{
    return (AVFormatContext *)(uintptr_t)format;
}

static bool is_in_program(const AVFormatContext *format, int stream, int other)
{
    bool is_in_any = false;
    for (unsigned p = 0; p < format->nb_programs; p++) {
        bool has_stream = false, has_other = false;
        const AVProgram *program = format->programs[p];
        for (unsigned i = 0; i < program->nb_stream_indexes; i++) {
            has_stream |= program->stream_index[i] == (unsigned)stream;
            has_other |= program->stream_index[i] == (unsigned)other;
        }
        if (has_stream && has_other)
            return true;
        is_in_any |= has_stream;
    }
    return !is_in_any;
}

// Returns the stream whose programme is the film's; -1: there is no choice of programmes.
static int find_video(const AVFormatContext *format)
{
    int i = format->nb_programs > 1
                ? av_find_best_stream(variable(format), AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0)
                : -1;
    return i < 0 ? -1 : i;
}

bool audio_track_is(const AVFormatContext *format, int stream)
{
    if (format->streams[stream]->codecpar->codec_type != AVMEDIA_TYPE_AUDIO)
        return false;
    int video = find_video(format);
    return video < 0 || is_in_program(format, stream, video);
}

int audio_track_count(const AVFormatContext *format, int until)
{
    int count = 0;
    for (int i = 0; i < until; i++)
        count += audio_track_is(format, i);
    return count;
}

static int find(const AVFormatContext *format, int tracks, const char *track)
{
    struct scan scan = scan_of(track, strlen(track));
    int64_t number;
    if (!scan_int(&scan, 1000, &number) || !scan_end(&scan))
        number = 0;
    int64_t count = 0;
    for (int i = 0; i < tracks; i++) {
        const AVStream *s = format->streams[i];
        if (!audio_track_is(format, i))
            continue;
        count++;
        if (number ? count == number : has_language(s, track))
            return i;
    }
    return -1;
}

int audio_track_find(const AVFormatContext *format, int tracks, const char *path, const char *track,
                     const AVCodec **codec)
{
    int wanted = track ? find(format, tracks, track) : -1;
    AVFormatContext *f = variable(format);
    int i = av_find_best_stream(f, AVMEDIA_TYPE_AUDIO, wanted, find_video(f), codec, 0);
    if (i >= tracks) // it continues one
        i = av_find_best_stream(f, AVMEDIA_TYPE_AUDIO, find(format, tracks, "1"), -1, codec, 0);
    if (i >= 0 && !audio_track_is(format, i))
        return AVERROR_STREAM_NOT_FOUND;
    if (i >= 0 && track && wanted < 0) {
        char has[TRACK_NOTES] = "";
        track_notes_unused(format, tracks, AVMEDIA_TYPE_AUDIO, -1, has, sizeof(has));
        log_warn("%s: no audio track \"%s\": the file has %s; sending its default", path, track,
                 has);
    }
    return i;
}
