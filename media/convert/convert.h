// SPDX-License-Identifier: GPL-2.0-or-later
// libswscale, kept to what Weir needs of it: any picture of libav into another size and format. It
// stays the same as long as the geometry does. Bit-exact, so that two machines that read one file
// get the same pictures.
#ifndef WEIR_MEDIA_CONVERT_CONVERT_H
#define WEIR_MEDIA_CONVERT_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include "media/picture/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

struct image { // planes are borrowed
    uint8_t *plane[4];
    int stride[4];
    int width, height;
    int format;      // enum AVPixelFormat
    int matrix;      // SWS_CS_*
    bool full_range; // 0 .. 255 instead of 16 .. 235
};

struct AVFrame;
struct SwsContext;

struct image image_of_picture(const struct picture *p);
struct image image_of_frame(const struct AVFrame *f); // odd sizes are cut to even

struct converter {          // {0} to begin with
    struct SwsContext *sws; // owned
    int key[10];            // what it was made for
};

void converter_destroy(struct converter *c);
// Bicubic when enlarging, area means when reducing. 0, ERR_NO_MEMORY, or ERR_UNSUPPORTED:
// libswscale cannot (logged).
int converter_run(struct converter *c, const struct image *from, const struct image *to);

// Sends libav's own messages to the log, at LOG_DEBUG; before anything else of libav is called.
void libav_log_to_log(void);

#ifdef __cplusplus
}
#endif
#endif
