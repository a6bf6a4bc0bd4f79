// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes of a response, which all viewers share. Reference-counted; never changed once made.
#ifndef WEIR_SERVER_HTTP_HTTP_BODY_H
#define WEIR_SERVER_HTTP_HTTP_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct http_body {
    int references; // use http_body_ref and http_body_unref
    bool is_dropped;
    size_t bytes;
    bool is_static;
    struct http_body *of; // one reference: `data` is a piece of it; NULL: of no other body
    const uint8_t *data;  // owned, unless it is static or a piece
};

// Takes over `data`, which is malloc'ed, even on failure. One reference; NULL: no memory.
struct http_body *http_body_new(uint8_t *data, size_t bytes);
struct http_body *http_body_copy(const void *data, size_t bytes); // NULL: no memory
struct http_body *http_body_of(const void *data, size_t bytes);   // of static data. NULL: no memory
// A piece of `of`, which it refers to. NULL: no memory, or `of` is NULL.
struct http_body *http_body_piece(struct http_body *of, size_t at, size_t bytes);
struct http_body *http_body_ref(struct http_body *b);
void http_body_unref(struct http_body *b); // NULL is fine; any thread
// As http_body_unref, for the library that kept the body: from now on only slow readers need it.
void http_body_drop(struct http_body *b);
// Returns the bytes of all dropped bodies that readers still need. Any thread.
size_t http_body_pinned(void);

DECLS_END
#endif
