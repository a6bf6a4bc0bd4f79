// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/audio_track.h"

#include <stdbool.h>
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

int audio_track_count(const AVFormatContext *format, int until)
{
    int count = 0;
    for (int i = 0; i < until; i++)
        count += format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
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
        if (s->codecpar->codec_type != AVMEDIA_TYPE_AUDIO)
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
    // libavformat has no const variants, but changes nothing.
    AVFormatContext *f = (AVFormatContext *)(uintptr_t)format;
    int i = av_find_best_stream(f, AVMEDIA_TYPE_AUDIO, wanted, -1, codec, 0);
    if (i >= tracks) // it continues one
        i = av_find_best_stream(f, AVMEDIA_TYPE_AUDIO, find(format, tracks, "1"), -1, codec, 0);
    if (i >= 0 && track && wanted < 0) {
        char has[TRACK_NOTES] = "";
        track_notes_unused(format, tracks, AVMEDIA_TYPE_AUDIO, -1, has, sizeof(has));
        log_warn("%s: no audio track \"%s\": the file has %s; sending its default", path, track,
                 has);
    }
    return i;
}
