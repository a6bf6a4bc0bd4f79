// SPDX-License-Identifier: GPL-2.0-or-later
// Transcodes audio streams of a file to Opus, 48 kHz, one or two channels, each as a part of
// a stored ladder.
#ifndef WEIR_MEDIA_STORED_STORED_AUDIO_H
#define WEIR_MEDIA_STORED_STORED_AUDIO_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/sdp.h"
#include "media/coded/audio.h"
#include "media/stored/policy/stored_shifts.h"

DECLS_BEGIN

enum { STORED_AUDIO_RATE = 48000, STORED_AUDIO_BPS = 96000 };

struct stored_audio_tracks { // of a film
    int film_count;          // its audio tracks
    int count;               // of those to store, the first one first
    struct {
        int number; // in the film, from 1
        char name[SDP_TRACK_NAME];
    } of[SDP_AUDIO_TRACKS];
};

// Lists the tracks to store: the one that `track` names (audio_track_find), and the others in the
// film's order. None: the film has no audio that can be decoded.
void stored_audio_list(const char *path, const char *track, struct stored_audio_tracks *out);
struct stored_audio_job {
    const char *path;                   // borrowed; of the film
    int number;                         // of the audio track, from 1
    struct audio_mix mix;               // of more than two channels
    usec_t origin;                      // of the film's pictures (struct source)
    const struct stored_shifts *shifts; // borrowed
    int64_t samples;                    // of the film's duration
    const char *folder;                 // borrowed
    int64_t part;
};

// Makes the part of an audio track, which is as long as the pictures and follows their time line.
// Returns 0; 1 if the film has no such track; ERR_IO, ERR_NO_MEMORY or ERR_UNSUPPORTED (logged).
int stored_audio_make(const struct stored_audio_job *job);

DECLS_END
#endif
