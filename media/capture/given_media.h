// SPDX-License-Identifier: GPL-2.0-or-later
// Pictures and audio that a program pushes, as a source: live, like a camera's. given_frames.h says
// which frames the pictures become, given_audio.h how audio stays with them. Each function locks;
// any thread.
#ifndef WEIR_MEDIA_CAPTURE_GIVEN_MEDIA_H
#define WEIR_MEDIA_CAPTURE_GIVEN_MEDIA_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "media/picture/geometry.h"
#include "media/source/audio_source.h"
#include "media/source/source.h"

DECLS_BEGIN

struct given_media; // opaque, reference-counted

// `geometry`: as geometry_check allows it. NULL: no memory.
struct given_media *given_media_new(const struct geometry *geometry, bool has_audio);
struct given_media *given_media_ref(struct given_media *g);
void given_media_unref(struct given_media *g); // NULL is fine

// Copies a picture, of which size, planes and strides count. `captured`: wall clock; 0: now. Clocks
// jump: a time that is more than 10 s away is ignored, one that is more than CAPTURE_MAX_AGE ago is
// taken to be that old. Returns 0; ERR_UNSUPPORTED: it has another size; ERR_FULL: it is dropped,
// as its frame is taken or others wait; ERR_NO_MEMORY.
int given_media_push_picture(struct given_media *g, const struct picture *p, usec_t captured);
// Copies `count` samples of each channel, the first captured at `captured`, as above. Returns 0;
// ERR_UNSUPPORTED: it has no audio, or there are too many samples; ERR_FULL: they are dropped
// (given_audio.h).
int given_media_push_audio(struct given_media *g, const int16_t *samples, int count,
                           usec_t captured);

// The source of the pictures, which takes a reference. Call it once. NULL: no memory (logged).
struct source *given_media_source(struct given_media *g);
// The source of their audio, which takes a reference. NULL: *err is ERR_NOT_FOUND: there is none;
// ERR_NO_MEMORY.
struct audio_source *given_media_audio(struct given_media *g, int *err);

DECLS_END
#endif
