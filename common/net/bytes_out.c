// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/bytes_out.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

enum { FIRST_BYTES = 4096 };

int bytes_out_add(struct bytes_out *b, const void *data, size_t len)
{
    if (!len)
        return 0;
    size_t cap = b->cap ? b->cap : FIRST_BYTES;
    while (cap < b->len + len)
        cap *= 2;
    uint8_t *grown = cap > b->cap ? realloc(b->data, cap) : b->data;
    if (!grown)
        return ERR_NO_MEMORY;
    b->data = grown;
    b->cap = cap;
    memcpy(b->data + b->len, data, len);
    b->len += len;
    return 0;
}

void bytes_out_drop(struct bytes_out *b, size_t len)
{
    if (len >= b->len) {
        b->len = 0;
        return;
    }
    b->len -= len;
    memmove(b->data, b->data + len, b->len);
}

void bytes_out_free(struct bytes_out *b)
{
    free(b->data);
    *b = (struct bytes_out){0};
}
