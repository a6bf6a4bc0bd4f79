// SPDX-License-Identifier: GPL-2.0-or-later
// Rotates a picture clockwise by quarter turns.
#ifndef WEIR_MEDIA_PICTURE_ROTATE_H
#define WEIR_MEDIA_PICTURE_ROTATE_H

#include "media/picture/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

// `quarters`: 1, 2 or 3. `to` must have the size of `from`, with the sides exchanged if `quarters`
// is odd. Copies only the planes, not number or times.
void rotate_run(const struct picture *from, int quarters, struct picture *to);

#ifdef __cplusplus
}
#endif
#endif
