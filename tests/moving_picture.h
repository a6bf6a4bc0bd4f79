// SPDX-License-Identifier: GPL-2.0-or-later
// A moving picture for tests of the codec, as hard as natural video: a ground with detail at all
// scales (noise with a 1/f spectrum) that pans, zooms and turns as a hand-held camera does, a patch
// moving on its own, and film grain. A pure function of (seed, time, scene, frame). And what tells
// pictures apart. Both are built for speed, without a sanitizer: they are not what is tested.
#ifndef WEIR_TESTS_MOVING_PICTURE_H
#define WEIR_TESTS_MOVING_PICTURE_H

#include <stdint.h>

#include "common/base/decls.h"
#include "media/picture/picture.h"

DECLS_BEGIN

#define MOVING_SIDE  512
#define MOVING_GRAIN (1 << 16)

struct moving_picture {
    uint8_t texture[MOVING_SIDE * MOVING_SIDE]; // periodic
    int8_t grain[MOVING_GRAIN];
};

// `grain`: its standard deviation in steps of 8-bit luma.
void moving_picture_init(struct moving_picture *m, uint64_t seed, double grain);
// Draws the moment `seconds` of scene `scene` (a change of it is a cut); `frame` picks the grain.
void moving_picture_draw(const struct moving_picture *m, double seconds, int scene, int64_t frame,
                         struct picture *out);

// FNV-1a over all planes.
uint64_t moving_picture_checksum(const struct picture *p);

DECLS_END

#endif
