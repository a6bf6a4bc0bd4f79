// SPDX-License-Identifier: GPL-2.0-or-later
// Opens a source of audio by its name: a device, or the audio of the video source.
#ifndef WEIR_MEDIA_CAPTURE_AUDIO_OPEN_H
#define WEIR_MEDIA_CAPTURE_AUDIO_OPEN_H

#include "common/base/decls.h"
#include "media/source/audio_source.h"

DECLS_BEGIN

// `name`: "pulse[:DEVICE]", "alsa[:DEVICE]" or "none". NULL selects the audio of the video source:
// the tone of the test picture, or the default audio track of the file `path`; "track:TRACK"
// another track of it (audio_track_find). `mix`: of a file's audio. `guard`: see media_input_open.
// Returns NULL and sets *err on failure: ERR_NOT_FOUND if the source has no audio; any other error
// is logged.
struct audio_source *audio_source_open(const char *name, const struct source *video,
                                       const char *path, struct audio_mix mix,
                                       struct media_guard *guard, int *err);
// Returns TRACK of "track:TRACK"; NULL if `name` is NULL or something else.
const char *audio_source_track(const char *name);
// Returns true if audio_source_open accepts `name`.
bool audio_source_is_name(const char *name);

DECLS_END
#endif
