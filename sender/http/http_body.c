// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/http_body.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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
    free(b->data);
    free(b);
}
