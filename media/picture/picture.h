// SPDX-License-Identifier: GPL-2.0-or-later
// A raw picture: YUV 4:2:0 planar, 8 bits, BT.709 limited range. Reference-counted, so that several
// threads may look at one; who holds the only reference may write to it.
#ifndef WEIR_MEDIA_PICTURE_PICTURE_H
#define WEIR_MEDIA_PICTURE_PICTURE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct picture {
    int width;  // pixels, even
    int height; // pixels, even
    uint8_t *plane[3];
    int stride[3];       // bytes; plane 0 at least width, planes 1 and 2 at least width / 2
    int64_t number;      // source frame number
    usec_t pts;          // media time since the first frame
    usec_t shift;        // to be added for the place in the source, which seeks and loops move
    usec_t capture_wall; // wall clock at capture; 0 = unknown
    int references;      // use picture_ref and picture_unref
    void *owner;         // what holds the planes; private to who made the picture
    void (*free_owner)(struct picture *p); // at the last unref: frees the planes; `p` itself, from
                                           // malloc, is freed by unref
};

// Planes 32-byte aligned, strides multiples of 32, contents undefined. NULL: no memory. One
// reference.
struct picture *picture_new(int width, int height);
struct picture *picture_ref(struct picture *p);
void picture_unref(struct picture *p); // NULL is fine
// Another picture with the same planes and stamps, to be given a number of its own. NULL: no
// memory.
struct picture *picture_alias(struct picture *p);

struct scaler; // remembers its last geometry; one thread at a time
struct scaler *scaler_new(void);
void scaler_free(struct scaler *s);
// Scales (bicubic when enlarging, area when reducing) `from` into `to`, whose size says what is
// wanted; copies when equal. number, pts and capture_wall are carried over. 0 or ERR_NO_MEMORY.
int scaler_run(struct scaler *s, const struct picture *from, struct picture *to);

// `p` itself when it has that size, else a smaller or larger copy; one reference, the caller's.
// NULL: no memory.
struct picture *scaler_scaled(struct scaler *s, struct picture *p, int width, int height);

// Writes PNG through a temporary file and rename(2), so that no half picture stands under `path`. 0
// or ERR_IO (logged).
int picture_write_png(const struct picture *p, const char *path);

#ifdef __cplusplus
}
#endif
#endif
