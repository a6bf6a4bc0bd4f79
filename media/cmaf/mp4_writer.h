// SPDX-License-Identifier: GPL-2.0-or-later
// Writes boxes of the ISO base media file format (ISO/IEC 14496-12) into a buffer that grows. Any
// failure to get memory, and a buffer above MP4_WRITER_MAX, sets `failed`, which is never reset;
// the caller checks it once, at the end.
#ifndef WEIR_MEDIA_CMAF_MP4_WRITER_H
#define WEIR_MEDIA_CMAF_MP4_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    MP4_WRITER_DEPTH = 12,      // max. boxes within each other
    MP4_WRITER_MAX = 256 << 20, // bytes
};

struct mp4_writer { // zero: empty
    uint8_t *data;  // owned until the caller takes it
    size_t len;
    size_t cap;
    bool failed;
    int depth;
    size_t open[MP4_WRITER_DEPTH]; // offsets of the boxes that are not closed
};

void mp4_writer_destroy(struct mp4_writer *w); // frees the buffer; the writer is empty again
void mp4_u8(struct mp4_writer *w, unsigned v);
void mp4_u16(struct mp4_writer *w, unsigned v);
void mp4_u32(struct mp4_writer *w, uint32_t v);
void mp4_u64(struct mp4_writer *w, uint64_t v);
void mp4_bytes(struct mp4_writer *w, const void *data, size_t len);
void mp4_zeros(struct mp4_writer *w, size_t count);
// Begins a box; `type` has four characters. mp4_end writes its length.
void mp4_box(struct mp4_writer *w, const char *type);
// Begins a full box (ISO/IEC 14496-12, 4.2), with its version and 24 bits of flags.
void mp4_full_box(struct mp4_writer *w, const char *type, unsigned version, uint32_t flags);
void mp4_end(struct mp4_writer *w);
// Replaces the 32 bits at `offset`, which are within the buffer unless the writer has failed.
void mp4_patch_u32(struct mp4_writer *w, size_t offset, uint32_t v);

DECLS_END
#endif
