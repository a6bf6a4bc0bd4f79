// SPDX-License-Identifier: GPL-2.0-or-later
// Turns a picture by quarters, clockwise.
#ifndef WEIR_MEDIA_PICTURE_ROTATE_H
#define WEIR_MEDIA_PICTURE_ROTATE_H

#include "media/picture/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

// quarters: 1, 2 or 3. `to` has the size of `from`, sides exchanged when the quarters are odd.
// Planes only.
void rotate_run(const struct picture *from, int quarters, struct picture *to);

#ifdef __cplusplus
}
#endif
#endif
