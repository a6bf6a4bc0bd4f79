// SPDX-License-Identifier: GPL-2.0-or-later
// Lists the capture devices of this machine.
#ifndef WEIR_MEDIA_CAPTURE_CAPTURE_LIST_H
#define WEIR_MEDIA_CAPTURE_CAPTURE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/decls.h"

DECLS_BEGIN

// Writes the path of the first camera that works; if none does, of the first that cannot be opened.
// Returns false if there is no camera.
bool capture_first_camera(char *out, size_t cap);
// Prints the cameras with their modes, and the X displays; prints a line if there are none.
void capture_list_print(FILE *out);

DECLS_END
#endif
