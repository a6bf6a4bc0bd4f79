// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/track_notes.h"

#include <ctype.h>
#include <libavcodec/avcodec.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/utf8.h"
#include "media/source/subtitle_decoder.h"

enum { LANGUAGE = 12, MAX_NAMED = 4 };

__attribute__((format(printf, 3, 4))) static void append(char *out, size_t cap, const char *format,
                                                         ...)
{
    size_t used = strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + used, cap - used, format, args);
    va_end(args);
}

// Writes the track's language and a space, or nothing. The text is the file's: only letters,
// digits and '-' are used.
static void language_of(const AVStream *s, char out[LANGUAGE + 2])
{
    const AVDictionaryEntry *e = av_dict_get(s->metadata, "language", NULL, 0);
    size_t len = 0;
    while (e && len < LANGUAGE && (isalnum((unsigned char)e->value[len]) || e->value[len] == '-'))
        len++;
    bool good = len > 0 && e->value[len] == '\0' && strcmp(e->value, "und") != 0;
    snprintf(out, LANGUAGE + 2, "%.*s%s", good ? (int)len : 0, good ? e->value : "",
             good ? " " : "");
}

static bool is_unused(const AVFormatContext *format, int i, enum AVMediaType type, int used)
{
    const AVStream *s = format->streams[i];
    return s->codecpar->codec_type == type && i != used &&
           !subtitle_decoder_is_text(s->codecpar->codec_id) &&
           !(s->disposition & AV_DISPOSITION_ATTACHED_PIC);
}

void track_notes_unused(const AVFormatContext *format, int tracks, enum AVMediaType type, int used,
                        char *out, size_t cap)
{
    int count = 0, named = 0;
    for (int i = 0; i < tracks; i++)
        count += is_unused(format, i, type, used);
    if (count == 0)
        return;
    const char *name = type == AVMEDIA_TYPE_SUBTITLE ? "subtitle" : av_get_media_type_string(type);
    append(out, cap, "%s%d %s%s track%s (", *out ? ", " : "", count, used < 0 ? "" : "other ", name,
           count == 1 ? "" : "s");
    for (int i = 0; i < tracks && named < MAX_NAMED; i++) {
        char language[LANGUAGE + 2];
        if (!is_unused(format, i, type, used))
            continue;
        language_of(format->streams[i], language);
        append(out, cap, "%s%s%s", named++ ? ", " : "", language,
               avcodec_get_name(format->streams[i]->codecpar->codec_id));
    }
    append(out, cap, "%s)", count > named ? " ..." : "");
}

static const char *tag(const AVStream *s, const char *name)
{
    const AVDictionaryEntry *e = av_dict_get(s->metadata, name, NULL, 0);
    return e && strcmp(e->value, "und") != 0 ? e->value : "";
}

void track_notes_name(const AVStream *s, char *out, size_t cap)
{
    char name[256];
    const char *language = tag(s, "language"), *title = tag(s, "title");
    snprintf(name, sizeof(name), "%s%s%s", language, *language && *title ? ", " : "", title);
    utf8_copy(name, out, cap);
}

void track_notes_audio(const AVCodecParameters *audio, char *out, size_t cap)
{
    char layout[64];
    snprintf(out, cap, "%s, %d Hz", avcodec_get_name(audio->codec_id), audio->sample_rate);
    int count = audio->ch_layout.nb_channels;
    if (count <= 2)
        return;
    if (audio->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC ||
        av_channel_layout_describe(&audio->ch_layout, layout, sizeof(layout)) < 0)
        snprintf(layout, sizeof(layout), "%d channels", count);
    append(out, cap, ", %s mixed down to stereo", layout);
}
