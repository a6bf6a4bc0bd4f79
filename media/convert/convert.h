// SPDX-License-Identifier: GPL-2.0-or-later
// Converts pictures of any libav format to another size, format, matrix and range, through
// libswscale, or recolour.h if size and format stay. Other primaries and transfers than those of
// BT.709, and high dynamic range, are converted by a colour_map.h in the end. A converter keeps its
// context while the geometry stays the same. Conversion is bit-exact, so that two machines that
// read the same file get the same pictures.
#ifndef WEIR_MEDIA_CONVERT_CONVERT_H
#define WEIR_MEDIA_CONVERT_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "media/convert/colours.h"
#include "media/picture/picture.h"

DECLS_BEGIN

struct image { // planes are borrowed
    uint8_t *plane[4];
    int stride[4];
    int width, height;
    int format;      // enum AVPixelFormat
    int matrix;      // SWS_CS_*
    bool full_range; // 0 .. 255 instead of 16 .. 235
    bool is_mapped;  // `colours` are not those of BT.709: it can be converted to YUV420P only
    struct colours colours;
};

struct AVFrame;
struct SwsContext;

struct image image_of_picture(const struct picture *p);
struct image image_of_frame(const struct AVFrame *f); // odd sizes are cut to even

struct converter {          // initialise with {0}
    struct SwsContext *sws; // owned
    int key[10];            // geometry, formats and matrices that `sws` was made for
    struct colour_map *map; // owned; NULL: none yet
    struct colours mapped;  // that `map` was made for
    uint8_t *mid;           // owned: the picture between `sws` and `map`
    size_t mid_bytes;
};

void converter_destroy(struct converter *c);
// Uses bicubic interpolation to enlarge and area averages to reduce. Returns 0, ERR_NO_MEMORY, or
// ERR_UNSUPPORTED if libswscale cannot convert the format (logged).
int converter_run(struct converter *c, const struct image *from, const struct image *to);

// Sends libav's own messages to the log, at LOG_DEBUG. Call it before any other libav function.
void libav_log_to_log(void);

DECLS_END
#endif
