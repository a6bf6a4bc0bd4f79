// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/http_body.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static size_t pinned; // bytes of dropped bodies

struct http_body *http_body_new(uint8_t *data, size_t bytes)
{
    struct http_body *b = data ? malloc(sizeof(*b)) : NULL;
    if (b)
        *b = (struct http_body){.references = 1, .bytes = bytes, .data = data};
    else
        free(data);
    return b;
}

struct http_body *http_body_copy(const void *data, size_t bytes)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    if (copy && bytes)
        memcpy(copy, data, bytes);
    return http_body_new(copy, bytes);
}

struct http_body *http_body_of(const void *data, size_t bytes)
{
    struct http_body *b = malloc(sizeof(*b));
    if (b)
        *b = (struct http_body){.references = 1, .bytes = bytes, .is_static = true, .data = data};
    return b;
}

struct http_body *http_body_piece(struct http_body *of, size_t at, size_t bytes)
{
    struct http_body *b = of ? malloc(sizeof(*b)) : NULL;
    if (!b)
        return NULL;
    assert(at <= of->bytes && bytes <= of->bytes - at);
    *b = (struct http_body){
        .references = 1, .bytes = bytes, .of = http_body_ref(of), .data = of->data + at};
    return b;
}

struct http_body *http_body_ref(struct http_body *b)
{
    // The caller holds a reference, so no other access needs ordering before the increment.
    int before = __atomic_fetch_add(&b->references, 1, __ATOMIC_RELAXED);
    assert(before > 0);
    (void)before;
    return b;
}

void http_body_unref(struct http_body *b)
{
    if (!b)
        return;
    int before = __atomic_fetch_sub(&b->references, 1, __ATOMIC_ACQ_REL);
    assert(before > 0);
    if (before > 1)
        return;
    if (b->is_dropped)
        __atomic_fetch_sub(&pinned, b->bytes, __ATOMIC_RELAXED);
    http_body_unref(b->of);
    if (!b->is_static && !b->of)
        free((void *)(uintptr_t)b->data);
    free(b);
}

void http_body_drop(struct http_body *b)
{
    if (!b)
        return;
    // The last reader sees it: its own unref comes after this one.
    b->is_dropped = true;
    __atomic_fetch_add(&pinned, b->bytes, __ATOMIC_RELAXED);
    http_body_unref(b);
}

size_t http_body_pinned(void)
{
    return __atomic_load_n(&pinned, __ATOMIC_RELAXED);
}
