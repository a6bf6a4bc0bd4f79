// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a whole file that the command line names.
#ifndef WEIR_EMULATOR_TEXT_FILE_H
#define WEIR_EMULATOR_TEXT_FILE_H

#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { TEXT_FILE_MAX = 256 * 1024 * 1024 };

// *text is the caller's to free; its `len` bytes are followed by a NUL. Returns 0; ERR_IO,
// ERR_TOO_BIG, ERR_NO_MEMORY: logged here, *text is NULL.
int text_file_read(const char *path, char **text, size_t *len);

DECLS_END
#endif
