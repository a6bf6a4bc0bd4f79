// SPDX-License-Identifier: GPL-2.0-or-later
// Where sound comes from. A source is pulled, picture by picture, for the sound of the time that a
// picture stands: so it is on the pictures' time line, through seeks and loops. One thread.
#ifndef WEIR_MEDIA_SOUND_SOURCE_H
#define WEIR_MEDIA_SOUND_SOURCE_H

#include <stdbool.h>

#include "media/media_guard.h"
#include "media/sound.h"
#include "media/source.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sound_source;

struct sound_source_ops {
    // Fills `out` with `count` samples (at most SOUND_RATE) from the source's own media time `from`
    // on; silence where it has none.
    void (*read)(struct sound_source *s, int64_t from, int16_t *out, int count);
    void (*free)(struct sound_source *s);
};

struct sound_source { // embedded first by each implementation
    const struct sound_source_ops *ops;
    char name[128]; // for people
    // Of what is captured: how old the newest sample is that a picture's time finds, in samples.
    int lag;
};

// `name`: "pulse[:DEVICE]" or "alsa[:DEVICE]"; "none"; NULL: what the source of the pictures has:
// the tone of the test picture, the first sound of the file `path`. NULL and *err: ERR_NOT_FOUND:
// there is none; else it is logged. `guard`: as media_input_open.
struct sound_source *sound_source_open(const char *name, const struct source *video,
                                       const char *path, struct media_guard *guard, int *err);
struct sound_source *sound_source_test_new(void);
// `origin`: the file's time of the pictures' media time 0.
struct sound_source *sound_source_file_open(const char *path, usec_t origin,
                                            struct media_guard *guard, int *err);
// `interval`: between two pictures.
struct sound_source *sound_source_device_open(const char *format, const char *device,
                                              usec_t interval, int *err);
// A name as sound_source_open takes it?
bool sound_source_is_name(const char *name);
static inline void sound_source_free(struct sound_source *s)
{
    if (s)
        s->ops->free(s);
}

#ifdef __cplusplus
}
#endif
#endif
