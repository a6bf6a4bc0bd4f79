// SPDX-License-Identifier: GPL-2.0-or-later
// Turns a picture upside down and rotates it clockwise by quarter turns. The two together make all
// eight ways in which a picture can lie: left and right are exchanged by a flip and two quarters.
#ifndef WEIR_MEDIA_PICTURE_ROTATE_H
#define WEIR_MEDIA_PICTURE_ROTATE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "media/picture/picture.h"

DECLS_BEGIN

// `quarters`: 0 .. 3. `flipped`: the top becomes the bottom before the rotation. `to` must have the
// size of `from`, with the sides exchanged if `quarters` is odd. Copies only the planes, not number
// or times.
void rotate_run(const struct picture *from, int quarters, bool flipped, struct picture *to);

DECLS_END
#endif
