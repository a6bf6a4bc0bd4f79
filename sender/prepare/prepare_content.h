// SPDX-License-Identifier: GPL-2.0-or-later
// Measures excerpts of a film, and makes the ladder that its content needs (content_ladder.h).
#ifndef WEIR_SENDER_PREPARE_PREPARE_CONTENT_H
#define WEIR_SENDER_PREPARE_PREPARE_CONTENT_H

#include "common/base/level.h"

#ifdef __cplusplus
extern "C" {
#endif

// `ladder`: the fixed one, which the better one replaces; it stays, and the log says why, if the
// film cannot be measured or is shorter than 2 s. It has no size that passes (level.h).
void prepare_content(const char *name, struct ladder *ladder);

#ifdef __cplusplus
}
#endif
#endif
