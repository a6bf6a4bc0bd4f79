// SPDX-License-Identifier: GPL-2.0-or-later
// Slices of text from outside: never terminated, always bounded.
#ifndef WEIR_WIRE_TEXT_H
#define WEIR_WIRE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/scan.h"

DECLS_BEGIN

struct text { // a slice of borrowed bytes, not terminated
    const char *at;
    size_t len;
};

// Returns true if the bytes are equal.
bool text_is(struct text t, const char *s);
// Returns true if the texts are equal except for the case of ASCII letters.
bool text_is_nocase(struct text t, const char *s);
// Copies the text, truncated to fit; always terminates `out`.
void text_copy(struct text t, char *out, size_t cap);

// Converts ASCII letters to lower case; returns other characters unchanged.
char text_lower(char c);
// Convert between slices and cursors.
struct text text_of_scan(struct scan s);
struct scan text_scan(struct text t);
// Returns what fits in `cap` bytes with a NUL, without white space around it.
struct text text_trimmed(struct scan s, size_t cap);
// For tokens of HTTP (RFC 2616, 2.2).
bool text_is_token_char(char c);
struct scan text_take_token(struct scan *s);
// Returns true if the text contains no control character except tab.
bool text_is_clean(struct scan s);

DECLS_END
#endif
