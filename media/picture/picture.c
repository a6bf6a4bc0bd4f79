// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/picture/picture.h"

#include <assert.h>
#include <stdlib.h>

#include "media/coded/coded_frame.h"

enum {
    ALIGNMENT = 64, // a cache line; the header promises only 32 bytes
    PADDING = 64,   // libswscale's and libavcodec's loops may touch bytes past a plane's last row
    MAX_SIDE = 32768,
};

static size_t round_up(size_t n)
{
    return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void free_block(struct picture *p)
{
    free(p->owner);
}

struct picture *picture_new(int width, int height)
{
    assert(width > 0 && height > 0 && width % 2 == 0 && height % 2 == 0);
    if (width > MAX_SIDE || height > MAX_SIDE)
        return NULL;
    size_t stride_y = round_up((size_t)width);
    size_t stride_c = round_up((size_t)width / 2);
    size_t size_y = stride_y * (size_t)height;
    size_t size_c = stride_c * (size_t)(height / 2);

    struct picture *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    uint8_t *block = aligned_alloc(ALIGNMENT, size_y + 2 * size_c + PADDING);
    if (!block) {
        free(p);
        return NULL;
    }
    p->width = width;
    p->height = height;
    p->plane[0] = block;
    p->plane[1] = block + size_y;
    p->plane[2] = block + size_y + size_c;
    p->stride[0] = (int)stride_y;
    p->stride[1] = p->stride[2] = (int)stride_c;
    p->references = 1;
    p->owner = block;
    p->free_owner = free_block;
    return p;
}

struct picture *picture_ref(struct picture *p)
{
    int before = __atomic_fetch_add(&p->references, 1, __ATOMIC_RELAXED);
    assert(before > 0);
    return p;
}

void picture_unref(struct picture *p)
{
    if (!p)
        return;
    // Release: this thread's accesses come before the decrement. Acquire: the other threads'
    // accesses come before the free.
    int before = __atomic_fetch_sub(&p->references, 1, __ATOMIC_ACQ_REL);
    assert(before > 0);
    if (before > 1)
        return;
    if (p->free_owner)
        p->free_owner(p);
    coded_frame_unref(p->coded);
    free(p);
}

static void unref_owner(struct picture *p)
{
    picture_unref(p->owner);
}

struct picture *picture_alias(struct picture *p)
{
    struct picture *alias = malloc(sizeof(*alias));
    if (!alias)
        return NULL;
    *alias = *p;
    alias->references = 1;
    alias->coded = NULL;
    alias->owner = picture_ref(p);
    alias->free_owner = unref_owner;
    return alias;
}
