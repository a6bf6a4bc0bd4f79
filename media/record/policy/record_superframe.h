// SPDX-License-Identifier: GPL-2.0-or-later
// The pictures of a cumulative ladder (VP9) for a recording: takes the coded frames of all sizes
// and makes one superframe (vp9.h) of each picture, of which only the largest size is shown
// (vp9_hide.h). If a size of a picture is missing, no picture is whole up to the next key frame.
// Pure.
#ifndef WEIR_MEDIA_RECORD_POLICY_RECORD_SUPERFRAME_H
#define WEIR_MEDIA_RECORD_POLICY_RECORD_SUPERFRAME_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/coded/coded_frame.h"

DECLS_BEGIN

struct record_superframe; // opaque

struct record_whole {    // a picture
    const uint8_t *data; // borrowed until the next call
    size_t bytes;
    bool key;
    int64_t depends_on; // number of an earlier picture; -1: none
};

// NULL: no memory.
struct record_superframe *record_superframe_new(const struct ladder *ladder);
void record_superframe_free(struct record_superframe *s); // NULL is fine
// Takes the frames of a picture in ascending order of their sizes. Returns true if the picture is
// whole with this one.
bool record_superframe_add(struct record_superframe *s, const struct coded_frame *f,
                           struct record_whole *out);

DECLS_END
#endif
