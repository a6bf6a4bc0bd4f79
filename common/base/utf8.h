// SPDX-License-Identifier: GPL-2.0-or-later
// Handles text from outside, such as file names and server messages, that must be UTF-8 (RFC 3629)
// or is written to a terminal. Pure.
#ifndef WEIR_BASE_UTF8_H
#define WEIR_BASE_UTF8_H

#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

// Returns the length in bytes of the character that begins at `text` (1 for NUL); 0: no valid
// character begins there.
int utf8_bytes(const char *text);
// Copies the text; each byte that is not part of a character, and each control character, becomes
// '?'. A character that does not fit in `cap` is left out whole.
void utf8_copy(const char *text, char *out, size_t cap);

DECLS_END
#endif
