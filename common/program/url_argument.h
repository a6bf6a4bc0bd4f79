// SPDX-License-Identifier: GPL-2.0-or-later
// A URL of the command line, or @FILE, a file whose first line it is: other users of the machine
// see the command line of a process, and passwords and keys in it.
#ifndef WEIR_PROGRAM_URL_ARGUMENT_H
#define WEIR_PROGRAM_URL_ARGUMENT_H

#include "common/base/decls.h"
#include "common/wire/url.h"

DECLS_BEGIN

enum { URL_ARGUMENT_MAX = 2 * URL_MAX_TEXT }; // bytes of a line with NUL

// Returns `value`, or for "@FILE" the line in `line`; NULL: the file cannot be read, or its first
// line is too long.
const char *url_argument_read(const char *value, char line[URL_ARGUMENT_MAX]);

DECLS_END
#endif
