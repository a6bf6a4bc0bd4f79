// SPDX-License-Identifier: GPL-2.0-or-later
// A QR code on a terminal, for the camera of a phone.
#ifndef WEIR_SERVER_RTSP_QR_CODE_H
#define WEIR_SERVER_RTSP_QR_CODE_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/decls.h"

DECLS_BEGIN

// Prints `text` as a QR code of half blocks, two rows of it a line, with a margin. `colors`: in
// black on white by escape sequences; else for a terminal that is dark. Returns the number of its
// columns; ERR_TOO_BIG: no code holds so much; ERR_NO_MEMORY.
int qr_code_print(const char *text, bool colors, FILE *to);

DECLS_END
#endif
