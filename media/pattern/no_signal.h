// SPDX-License-Identifier: GPL-2.0-or-later
// The card that stands where a source has no picture: "no signal" and the reason, in plain
// capitals. Pure.
#ifndef WEIR_MEDIA_PATTERN_NO_SIGNAL_H
#define WEIR_MEDIA_PATTERN_NO_SIGNAL_H

#include "media/picture/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

// Fills the picture, whose only reference is the caller's. Letters without a shape stay blank.
void no_signal_draw(struct picture *p, const char *reason);

#ifdef __cplusplus
}
#endif
#endif
