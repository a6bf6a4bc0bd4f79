// SPDX-License-Identifier: GPL-2.0-or-later
// The size that a picture from outside gets: square pixels, even sides, at most 1920x1080 either
// way up.
#ifndef WEIR_MEDIA_PICTURE_PICTURE_FIT_H
#define WEIR_MEDIA_PICTURE_PICTURE_FIT_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// `aspect_num`/`aspect_den`: a pixel's width by its height. False when there is nothing to see.
bool picture_fit(int width, int height, int aspect_num, int aspect_den, int *out_width,
                 int *out_height);

struct picture_place { // all even
    int x, y;
    int width, height;
};

// Where a picture of square pixels stands in a box: as large as its shape allows, in the middle;
// all of the box when only rounding makes a difference.
struct picture_place picture_fit_place(int width, int height, int box_width, int box_height);

#ifdef __cplusplus
}
#endif
#endif
