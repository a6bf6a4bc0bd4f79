// SPDX-License-Identifier: GPL-2.0-or-later
// The first sound of a file as Opus, 48 kHz, one or two channels, in a part of a stored ladder.
#ifndef WEIR_MEDIA_STORED_STORED_AUDIO_H
#define WEIR_MEDIA_STORED_STORED_AUDIO_H

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { STORED_AUDIO_RATE = 48000, STORED_AUDIO_BPS = 96000 };

// 1: it has none; 0: the part is there, its times counted from `origin`, where the video begins on
// the file's own clock (struct source); ERR_IO, ERR_NO_MEMORY, ERR_UNSUPPORTED (logged).
int stored_audio_make(const char *path, usec_t origin, const char *folder);

#ifdef __cplusplus
}
#endif
#endif
