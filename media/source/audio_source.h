// SPDX-License-Identifier: GPL-2.0-or-later
// A source of audio. The caller pulls, for each picture, the audio of the time that the picture is
// shown. So audio stays on the pictures' time line through seeks and loops. One thread.
#ifndef WEIR_MEDIA_SOURCE_AUDIO_SOURCE_H
#define WEIR_MEDIA_SOURCE_AUDIO_SOURCE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "media/coded/audio.h"
#include "media/source/media_guard.h"
#include "media/source/source.h"

DECLS_BEGIN

struct audio_source;

enum { AUDIO_TRACK_NAME = 48 }; // bytes

struct audio_source_ops {
    // Fills `out` with `count` samples (at most AUDIO_RATE) from the source's media time `from` on.
    // Writes silence where the source has no audio.
    void (*read)(struct audio_source *s, int64_t from, int16_t *out, int count);
    void (*free)(struct audio_source *s);
};

struct audio_source { // embedded first by each implementation
    const struct audio_source_ops *ops;
    char name[128]; // shown to the user
    // Of a file: its audio tracks, their number and this one's, from 1; the name of this one
    // (track_notes_name).
    int track_count;
    int track_number;
    char track[AUDIO_TRACK_NAME];
    // Samples between the capture of audio and the picture that it is delivered with; 0 for files.
    int lag;
    int64_t place; // set by the caller: of the pictures (picture.h); -1 after the opening of a file
    int channels;  // of a file: of what `read` writes, AUDIO_CHANNELS or 1
    bool is_wider; // audio of more channels than `channels` was read, and mixed
};

struct audio_source *audio_source_test_new(void);
// `origin`: the file's own time at media time 0 of the pictures. `track`: see audio_track_find.
// `mix`: of more than two channels. `keeps_mono`: `read` gives one channel if the track begins with
// one. `guard`: see media_input_open.
struct audio_source *audio_source_file_open(const char *path, usec_t origin, const char *track,
                                            struct audio_mix mix, bool keeps_mono,
                                            struct media_guard *guard, int *err);
static inline void audio_source_free(struct audio_source *s)
{
    if (s)
        s->ops->free(s);
}

DECLS_END
#endif
