// SPDX-License-Identifier: GPL-2.0-or-later
// Where sound comes from. A source is pulled, picture by picture, for the sound of the time that a
// picture stands: so it is on the pictures' time line, through seeks and loops. One thread.
#ifndef WEIR_MEDIA_SOURCE_AUDIO_SOURCE_H
#define WEIR_MEDIA_SOURCE_AUDIO_SOURCE_H

#include <stdbool.h>

#include "media/coded/audio.h"
#include "media/source/media_guard.h"
#include "media/source/source.h"

#ifdef __cplusplus
extern "C" {
#endif

struct audio_source;

struct audio_source_ops {
    // Fills `out` with `count` samples (at most AUDIO_RATE) from the source's own media time `from`
    // on; silence where it has none.
    void (*read)(struct audio_source *s, int64_t from, int16_t *out, int count);
    void (*free)(struct audio_source *s);
};

struct audio_source { // embedded first by each implementation
    const struct audio_source_ops *ops;
    char name[128]; // for people
    // Of what is captured: how old the newest sample is that a picture's time finds, in samples.
    int lag;
};

struct audio_source *audio_source_test_new(void);
// `origin`: the file's time of the pictures' media time 0.
struct audio_source *audio_source_file_open(const char *path, usec_t origin,
                                            struct media_guard *guard, int *err);
static inline void audio_source_free(struct audio_source *s)
{
    if (s)
        s->ops->free(s);
}

#ifdef __cplusplus
}
#endif
#endif
