// SPDX-License-Identifier: GPL-2.0-or-later
// Slices of text from outside: never terminated, always bounded.
#ifndef WEIR_WIRE_TEXT_H
#define WEIR_WIRE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/scan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct text { // a slice of borrowed bytes, not terminated
    const char *at;
    size_t len;
};

// Compares bytes.
bool text_is(struct text t, const char *s);
// Compares with ASCII case folded.
bool text_is_nocase(struct text t, const char *s);
// Truncates, always terminates.
void text_copy(struct text t, char *out, size_t cap);

// Folds ASCII only.
char text_lower(char c);
// Convert between slices and cursors.
struct text text_of_scan(struct scan s);
struct scan text_scan(struct text t);
// Tokens of HTTP (RFC 2616, 2.2).
bool text_is_token_char(char c);
struct scan text_take_token(struct scan *s);
// No control character but tab.
bool text_is_clean(struct scan s);

#ifdef __cplusplus
}
#endif
#endif
