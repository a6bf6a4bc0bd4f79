// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a file that is complete or absent: under another name in the same folder, then renamed.
#ifndef WEIR_PROGRAM_WHOLE_FILE_H
#define WEIR_PROGRAM_WHOLE_FILE_H

#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

// Replaces the file `path`. Returns 0 or ERR_IO (logged). Any thread.
int whole_file_write(const char *path, const void *data, size_t bytes);

DECLS_END
#endif
