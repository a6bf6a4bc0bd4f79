// SPDX-License-Identifier: GPL-2.0-or-later
// Base64 (RFC 4648): the standard alphabet with padding (section 4), or that of URLs and file names
// without padding (section 5). Decoding takes the one alphabet, and padding only where it belongs.
#ifndef WEIR_WIRE_BASE64_H
#define WEIR_WIRE_BASE64_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/wire/text.h"

DECLS_BEGIN

enum base64_kind { BASE64_STANDARD, BASE64_URL };

// Bytes of the text of `len` bytes with its NUL.
#define BASE64_TEXT(len) (((len) + 2) / 3 * 4 + 1)

// Writes the text, terminated; `out` has room for BASE64_TEXT(len). Returns its length.
size_t base64_encode(const uint8_t *data, size_t len, enum base64_kind kind, char *out);
// Returns the number of bytes; ERR_MALFORMED; ERR_FULL: they are more than `cap`.
int base64_decode(struct text text, enum base64_kind kind, uint8_t *out, size_t cap);

DECLS_END
#endif
