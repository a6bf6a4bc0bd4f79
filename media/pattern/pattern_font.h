// SPDX-License-Identifier: GPL-2.0-or-later
// The test picture's font: round strokes, stored as control points and drawn at any size in integer
// arithmetic, so that every machine draws the same pixels. It has digits and a few letters; other
// characters are blank.
#ifndef WEIR_MEDIA_PATTERN_PATTERN_FONT_H
#define WEIR_MEDIA_PATTERN_PATTERN_FONT_H

#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

// Returns the advance of `c` in pixels, in a line of `height` pixels. All digits have the same
// advance.
int pattern_font_advance(char c, int height);
int pattern_font_width(const char *text, int height);
// Draws `c` into a box of pattern_font_advance(c, height) x height pixels at `out`: `ink` on
// `paper`, blended at the edges.
void pattern_font_draw(char c, int height, uint8_t ink, uint8_t paper, uint8_t *out, int stride);

DECLS_END
#endif
