// SPDX-License-Identifier: GPL-2.0-or-later
// Transcodes an audio stream of a file to Opus, 48 kHz, one or two channels, as a part of a
// stored ladder.
#ifndef WEIR_MEDIA_STORED_STORED_AUDIO_H
#define WEIR_MEDIA_STORED_STORED_AUDIO_H

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { STORED_AUDIO_RATE = 48000, STORED_AUDIO_BPS = 96000 };

// Makes the part. Its times count from `origin`, the file's own time at the beginning of the video
// (struct source). `track`: see audio_track_find. Returns 0; 1 if the file has no audio; ERR_IO,
// ERR_NO_MEMORY or ERR_UNSUPPORTED (logged).
int stored_audio_make(const char *path, usec_t origin, const char *track, const char *folder);

#ifdef __cplusplus
}
#endif
#endif
