// SPDX-License-Identifier: GPL-2.0-or-later
// Texts from outside, such as files' names and servers' words, that have to be UTF-8 (RFC 3629) or
// go to a terminal. Pure.
#ifndef WEIR_BASE_UTF8_H
#define WEIR_BASE_UTF8_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of the character that begins here, a NUL's too; 0: none does.
int utf8_bytes(const char *text);
// Each byte that belongs to no character becomes '?', and so does each control character; none is
// cut apart where `cap` ends it.
void utf8_copy(const char *text, char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
