// SPDX-License-Identifier: GPL-2.0-or-later
// The test picture's ground: light on moving water. Two textures that tile the plane, the depth and
// the light, are drawn once; a frame is their mean, each moved by its own offset. So no motion
// vector predicts a frame from the last one wholly, as in natural video, and drawing costs little
// more than a copy. Integer arithmetic: alike on every machine.
#ifndef WEIR_MEDIA_PATTERN_PATTERN_GROUND_H
#define WEIR_MEDIA_PATTERN_PATTERN_GROUND_H

#include "media/picture/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PATTERN_GROUND_LAYERS = 2 };

struct pattern_ground;

struct pattern_ground *pattern_ground_new(int width, int height); // NULL: no memory
void pattern_ground_free(struct pattern_ground *g);
// Offsets of each layer in pixels: 0 <= x[i] < width, 0 <= y[i] < height. Fills `out`, of the same
// size.
void pattern_ground_draw(const struct pattern_ground *g, const int x[PATTERN_GROUND_LAYERS],
                         const int y[PATTERN_GROUND_LAYERS], struct picture *out);

#ifdef __cplusplus
}
#endif
#endif
