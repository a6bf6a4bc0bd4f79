// SPDX-License-Identifier: GPL-2.0-or-later
// Opens a source of audio by its name: a device, or what the source of the pictures has.
#ifndef WEIR_MEDIA_CAPTURE_AUDIO_OPEN_H
#define WEIR_MEDIA_CAPTURE_AUDIO_OPEN_H

#include "media/source/audio_source.h"

#ifdef __cplusplus
extern "C" {
#endif

// `name`: "pulse[:DEVICE]" or "alsa[:DEVICE]"; "none"; NULL: what the source of the pictures has,
// which is the tone of the test picture or the first audio stream of the file `path`. NULL and
// *err: ERR_NOT_FOUND if there is none; any other error is logged. `guard`: as media_input_open.
struct audio_source *audio_source_open(const char *name, const struct source *video,
                                       const char *path, struct media_guard *guard, int *err);
// Returns true if audio_source_open takes `name`.
bool audio_source_is_name(const char *name);

#ifdef __cplusplus
}
#endif
#endif
