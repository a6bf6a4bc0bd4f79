// SPDX-License-Identifier: GPL-2.0-or-later
// Makes UTF-8 of a text file whose encoding is not known: a byte order mark or valid UTF-8 says it,
// else libuchardet guesses from the frequencies of bytes.
#ifndef WEIR_MEDIA_SOURCE_TEXT_ENCODING_H
#define WEIR_MEDIA_SOURCE_TEXT_ENCODING_H

#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { TEXT_ENCODING_NAME = 32 };

// Returns the text, terminated, which the caller frees; *out_len without the terminator. NULL: no
// memory. Bytes that are no character of the encoding become '?'. `name`: what was guessed, as
// "WINDOWS-1251"; empty: it is UTF-8.
char *text_encoding_utf8(const char *data, size_t len, char name[TEXT_ENCODING_NAME],
                         size_t *out_len);

DECLS_END
#endif
