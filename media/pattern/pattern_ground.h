// SPDX-License-Identifier: GPL-2.0-or-later
// The test picture's background: light on moving water. Two textures that tile the plane, depth and
// light, are drawn once. A frame is their mean, each moved by its own offset. As in natural video,
// no motion vector predicts a frame completely; and drawing costs little more than a copy. Integer
// arithmetic gives the same pixels on every machine.
#ifndef WEIR_MEDIA_PATTERN_PATTERN_GROUND_H
#define WEIR_MEDIA_PATTERN_PATTERN_GROUND_H

#include "common/base/decls.h"
#include "media/picture/picture.h"

DECLS_BEGIN

enum { PATTERN_GROUND_LAYERS = 2 };

struct pattern_ground;

struct pattern_ground *pattern_ground_new(int width, int height); // NULL: no memory
void pattern_ground_free(struct pattern_ground *g);
// Fills `out`, which must have the ground's size. x[i], y[i]: offset of layer i in pixels; 0 <=
// x[i] < width, 0 <= y[i] < height.
void pattern_ground_draw(const struct pattern_ground *g, const int x[PATTERN_GROUND_LAYERS],
                         const int y[PATTERN_GROUND_LAYERS], struct picture *out);

DECLS_END
#endif
