// SPDX-License-Identifier: GPL-2.0-or-later
// Draws the card that replaces the picture of a source without signal: "no signal" and the reason,
// in plain capitals. Pure.
#ifndef WEIR_MEDIA_PATTERN_NO_SIGNAL_H
#define WEIR_MEDIA_PATTERN_NO_SIGNAL_H

#include "common/base/decls.h"
#include "media/picture/picture.h"

DECLS_BEGIN

// Fills the picture; the caller must hold its only reference. Characters without a glyph stay
// blank.
void no_signal_draw(struct picture *p, const char *reason);

DECLS_END
#endif
