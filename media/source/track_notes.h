// SPDX-License-Identifier: GPL-2.0-or-later
// Says in words which tracks of a file are not used, and what is done to audio of many channels.
#ifndef WEIR_MEDIA_SOURCE_TRACK_NOTES_H
#define WEIR_MEDIA_SOURCE_TRACK_NOTES_H

#include <libavformat/avformat.h>
#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { TRACK_NOTES = 160 }; // bytes

// Appends the tracks of `type` but `used`, of the first `tracks` streams, to `out`, which is a
// text: "2 subtitle tracks (eng subrip, deu ass)". Covers are no video tracks, and subtitles that
// are text are used (subtitle_source.h). What has no room is cut.
void track_notes_unused(const AVFormatContext *format, int tracks, enum AVMediaType type, int used,
                        char *out, size_t cap);
// Writes the track's language and title, "eng, Commentary", as valid UTF-8; may be empty.
void track_notes_name(const AVStream *s, char *out, size_t cap);
// Writes "aac, 48000 Hz", and of more than two channels also ", 5.1 mixed down to stereo".
void track_notes_audio(const AVCodecParameters *audio, char *out, size_t cap);

DECLS_END
#endif
