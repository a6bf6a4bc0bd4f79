// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses an audio track of a file by its number or its language.
#ifndef WEIR_MEDIA_SOURCE_AUDIO_TRACK_H
#define WEIR_MEDIA_SOURCE_AUDIO_TRACK_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>

#include "common/base/decls.h"

DECLS_BEGIN

// `track`: "2" for the file's second audio track, or the language that its metadata names, such as
// "deu"; NULL: the file's default, or its best one. If there is no such track (logged, with `path`)
// that is used, too. `tracks`: see media_input_tracks. Returns the stream's index and its decoder,
// or an error of av_find_best_stream.
int audio_track_find(const AVFormatContext *format, int tracks, const char *path, const char *track,
                     const AVCodec **codec);

// Returns true if the stream is audio of the film: of several programmes (MPEG-TS), of the one
// whose video is the film's. Others may have another clock.
bool audio_track_is(const AVFormatContext *format, int stream);
// Returns how many of the first `until` streams are that.
int audio_track_count(const AVFormatContext *format, int until);

DECLS_END
#endif
