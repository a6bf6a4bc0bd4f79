// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes that accumulate on the heap. A zeroed struct is empty and owns nothing.
#ifndef WEIR_NET_BYTES_OUT_H
#define WEIR_NET_BYTES_OUT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct bytes_out {
    uint8_t *data; // owned; NULL while cap is 0
    size_t len;
    size_t cap;
};

// Appends bytes. The caller bounds the length. Returns 0; ERR_NO_MEMORY: nothing was appended.
int bytes_out_add(struct bytes_out *b, const void *data, size_t len);
// Removes the first `len` bytes, at most all of them.
void bytes_out_drop(struct bytes_out *b, size_t len);
// Frees the memory; the struct is empty again.
void bytes_out_free(struct bytes_out *b);

DECLS_END
#endif
