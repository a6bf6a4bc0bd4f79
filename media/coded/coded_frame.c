// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/coded_frame.h"

#include <assert.h>
#include <stdlib.h>

// Zero bytes after the data: libavcodec's bitstream readers may read past its end.
enum { PADDING = 64 };

struct coded_frame *coded_frame_new(size_t bytes)
{
    if (bytes > SIZE_MAX - sizeof(struct coded_frame) - PADDING)
        return NULL;
    struct coded_frame *f = calloc(1, sizeof(*f) + bytes + PADDING);
    if (!f)
        return NULL;
    f->references = 1;
    f->bytes = bytes;
    f->data = (uint8_t *)(f + 1);
    return f;
}

struct coded_frame *coded_frame_ref(struct coded_frame *f)
{
    // The caller holds a reference, so no other access needs ordering before the increment.
    int before = __atomic_fetch_add(&f->references, 1, __ATOMIC_RELAXED);
    assert(before > 0);
    (void)before;
    return f;
}

void coded_frame_unref(struct coded_frame *f)
{
    if (!f)
        return;
    int before = __atomic_fetch_sub(&f->references, 1, __ATOMIC_ACQ_REL);
    assert(before > 0);
    if (before == 1)
        free(f);
}
