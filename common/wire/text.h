// SPDX-License-Identifier: GPL-2.0-or-later
// Slices of text that came from outside: never terminated, always bounded.
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

bool text_is(struct text t, const char *s);           // same bytes
bool text_is_nocase(struct text t, const char *s);    // ASCII case folded
void text_copy(struct text t, char *out, size_t cap); // truncates, always terminates

char text_lower(char c); // ASCII
// Between slices and cursors.
struct text text_of_scan(struct scan s);
struct scan text_scan(struct text t);
// HTTP's tokens (RFC 2616, 2.2).
bool text_is_token_char(char c);
struct scan text_take_token(struct scan *s);
bool text_is_clean(struct scan s); // no control character but tab

#ifdef __cplusplus
}
#endif
#endif
