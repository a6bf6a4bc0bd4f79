// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes of a response, which all viewers share. Reference-counted; never changed once made.
#ifndef WEIR_SENDER_HTTP_HTTP_BODY_H
#define WEIR_SENDER_HTTP_HTTP_BODY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct http_body {
    int references; // use http_body_ref and http_body_unref
    size_t bytes;
    uint8_t *data; // owned
};

// Takes over `data`, which is malloc'ed, even on failure. One reference; NULL: no memory.
struct http_body *http_body_new(uint8_t *data, size_t bytes);
struct http_body *http_body_copy(const void *data, size_t bytes); // NULL: no memory
struct http_body *http_body_ref(struct http_body *b);
void http_body_unref(struct http_body *b); // NULL is fine; any thread

#ifdef __cplusplus
}
#endif
#endif
