// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the size of pictures from files and devices inside Weir: square pixels, even sides, at
// most 4096x2304 or 2304x4096.
#ifndef WEIR_MEDIA_PICTURE_PICTURE_FIT_H
#define WEIR_MEDIA_PICTURE_PICTURE_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

// `aspect_num` / `aspect_den`: a pixel's width divided by its height. Returns false if a side would
// be shorter than 16 pixels.
bool picture_fit(int width, int height, int aspect_num, int aspect_den, int *out_width,
                 int *out_height);

struct picture_place { // all even
    int x, y;
    int width, height;
};

// Returns the place of a picture of square pixels in a box: centred and as large as its shape
// allows. If the shapes differ only by rounding, it is the whole box.
struct picture_place picture_fit_place(int width, int height, int box_width, int box_height);

struct picture;
// Returns the place in `p` of a picture of the shape `width` x `height`, in square pixels. Makes
// the borders black. `plane`: where the place begins in each plane.
struct picture_place picture_place_in(struct picture *p, int width, int height, uint8_t *plane[3]);

DECLS_END
#endif
