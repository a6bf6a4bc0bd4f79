// SPDX-License-Identifier: GPL-2.0-or-later
// A stream (fopencookie(3)) whose lines go to a function, one call a line, and to a file.
#ifndef WEIR_LIB_EVENT_LINES_H
#define WEIR_LIB_EVENT_LINES_H

#include <stdio.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { EVENT_LINES_MAX = 64 * 1024 }; // bytes of a line with NUL; a longer one is dropped (logged)

// `fn` gets each line without its newline, on the thread that writes. `file` gets what is written;
// it is taken over, also on failure; NULL: none. Returns NULL if there is no memory. fclose() of
// the stream closes the file, too, and drops an incomplete line.
FILE *event_lines_open(void (*fn)(void *ctx, const char *line), void *ctx, FILE *file);

DECLS_END
#endif
