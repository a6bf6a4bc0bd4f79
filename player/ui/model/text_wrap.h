// SPDX-License-Identifier: GPL-2.0-or-later
// Breaks a text into lines at its spaces. A word wider than a line has a line of its own.
#ifndef WEIR_PLAYER_UI_MODEL_TEXT_WRAP_H
#define WEIR_PLAYER_UI_MODEL_TEXT_WRAP_H

#include "common/base/decls.h"

DECLS_BEGIN

enum { TEXT_WRAP_LINES = 6, TEXT_WRAP_BYTES = 256 };

struct wrapped_text {
    int count;
    char line[TEXT_WRAP_LINES][TEXT_WRAP_BYTES]; // the last one has all the rest
};

// Returns the width of a text in pixels.
typedef int text_width_fn(void *ctx, const char *text);

void text_wrap(struct wrapped_text *out, const char *text, int width, text_width_fn *measure,
               void *ctx);

DECLS_END
#endif
