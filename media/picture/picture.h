// SPDX-License-Identifier: GPL-2.0-or-later
// A raw picture: YUV 4:2:0 planar, 8 bits, BT.709 limited range. Reference-counted, so that several
// threads may read it; the holder of the only reference may write to it.
#ifndef WEIR_MEDIA_PICTURE_PICTURE_H
#define WEIR_MEDIA_PICTURE_PICTURE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct coded_frame;

struct picture {
    int width;  // pixels, even
    int height; // pixels, even
    uint8_t *plane[3];
    int stride[3];  // bytes; plane 0 at least width, planes 1 and 2 at least width / 2
    int64_t number; // source frame number
    usec_t pts;     // media time since the first frame
    // Position in the source minus media time, AUDIO_AHEAD behind `pts` (audio.h); seeks, loops and
    // clock jumps change it.
    usec_t shift;
    // Of a film whose time stamps come again: the byte of the file at which the reader began
    // after the last seek. -1: the whole file.
    int64_t place;
    usec_t capture_wall; // wall clock at capture; 0 = unknown
    // One reference, or NULL: the coded frame of a source that passes its coded video on
    // (coded_video.h). In decoding order it comes in this picture's turn, so it may be of another
    // picture. The encoder that passes it on is the only one that reads it.
    struct coded_frame *coded;
    int references; // use picture_ref and picture_unref
    void *owner;    // holds the planes; private to the creator of the picture
    // Called at the last unref; frees the planes. picture_unref then frees `p`, which is from
    // malloc.
    void (*free_owner)(struct picture *p);
};

// Returns a picture with one reference: planes 32-byte aligned, strides multiples of 32, contents
// undefined. NULL: no memory.
struct picture *picture_new(int width, int height);
struct picture *picture_ref(struct picture *p);
void picture_unref(struct picture *p); // NULL is fine
// Returns another picture with the same planes and stamps, to which the caller can give another
// number. NULL: no memory.
struct picture *picture_alias(struct picture *p);

struct scaler; // keeps the context of its last geometry; one thread at a time
struct scaler *scaler_new(void);
void scaler_free(struct scaler *s);
// Scales `from` to the size of `to`: bicubic to enlarge, area averages to reduce, a copy if the
// sizes are equal. Copies number, pts and capture_wall. Returns 0 or ERR_NO_MEMORY.
int scaler_run(struct scaler *s, const struct picture *from, struct picture *to);

// Returns a new reference to `p` if it has that size, else a scaled copy; the caller owns the
// reference. NULL: no memory.
struct picture *scaler_scaled(struct scaler *s, struct picture *p, int width, int height);

// Writes a PNG file through a temporary file and rename(2), so that `path` never holds a partial
// picture. Returns 0 or ERR_IO (logged).
int picture_write_png(const struct picture *p, const char *path);

// Encodes a JPEG file (baseline, 4:2:0) of at most `max_bytes`, reduced to `max_width` if it is
// wider: at a good quality, or as good as fits. The caller frees *out. Returns 0; ERR_TOO_BIG,
// ERR_NO_MEMORY or ERR_UNSUPPORTED: no encoder (logged).
int picture_jpeg(const struct picture *p, int max_width, size_t max_bytes, uint8_t **out,
                 size_t *bytes);

DECLS_END
#endif
