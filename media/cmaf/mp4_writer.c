// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/cmaf/mp4_writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"

enum { FIRST_ROOM = 4096 };

void mp4_writer_destroy(struct mp4_writer *w)
{
    free(w->data);
    *w = (struct mp4_writer){0};
}

// Returns where `len` more bytes go; NULL if the writer has failed.
static uint8_t *room(struct mp4_writer *w, size_t len)
{
    if (!w->failed && len > w->cap - w->len) {
        size_t cap = w->cap ? w->cap : FIRST_ROOM;
        while (cap < MP4_WRITER_MAX && cap - w->len < len)
            cap *= 2;
        uint8_t *data = cap - w->len >= len ? realloc(w->data, cap) : NULL;
        w->failed = !data;
        if (data) {
            w->data = data;
            w->cap = cap;
        }
    }
    if (w->failed)
        return NULL;
    uint8_t *at = w->data + w->len;
    w->len += len;
    return at;
}

void mp4_u8(struct mp4_writer *w, unsigned v)
{
    uint8_t *at = room(w, 1);
    if (at)
        *at = (uint8_t)v;
}

void mp4_u16(struct mp4_writer *w, unsigned v)
{
    uint8_t *at = room(w, 2);
    if (at)
        store_be16(at, (uint16_t)v);
}

void mp4_u32(struct mp4_writer *w, uint32_t v)
{
    uint8_t *at = room(w, 4);
    if (at)
        store_be32(at, v);
}

void mp4_u64(struct mp4_writer *w, uint64_t v)
{
    uint8_t *at = room(w, 8);
    if (at)
        store_be64(at, v);
}

void mp4_bytes(struct mp4_writer *w, const void *data, size_t len)
{
    uint8_t *at = room(w, len);
    if (at && len)
        memcpy(at, data, len);
}

void mp4_zeros(struct mp4_writer *w, size_t count)
{
    uint8_t *at = room(w, count);
    if (at)
        memset(at, 0, count);
}

void mp4_box(struct mp4_writer *w, const char *type)
{
    assert(strlen(type) == 4 && w->depth < MP4_WRITER_DEPTH);
    w->open[w->depth++] = w->len;
    mp4_u32(w, 0);
    mp4_bytes(w, type, 4);
}

void mp4_full_box(struct mp4_writer *w, const char *type, unsigned version, uint32_t flags)
{
    mp4_box(w, type);
    mp4_u32(w, (uint32_t)version << 24 | flags);
}

void mp4_end(struct mp4_writer *w)
{
    assert(w->depth > 0);
    size_t begin = w->open[--w->depth];
    mp4_patch_u32(w, begin, (uint32_t)(w->len - begin));
}

void mp4_patch_u32(struct mp4_writer *w, size_t offset, uint32_t v)
{
    if (w->failed)
        return;
    assert(offset + 4 <= w->len);
    store_be32(w->data + offset, v);
}
