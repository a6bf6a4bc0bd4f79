// SPDX-License-Identifier: GPL-2.0-or-later
// Measures excerpts of a film, and makes the ladder that its content needs (content_ladder.h). The
// excerpts are measured on several threads. The same film gets the same ladder each time, so that
// an interrupted preparation can continue.
#ifndef WEIR_SENDER_PREPARE_PREPARE_CONTENT_H
#define WEIR_SENDER_PREPARE_PREPARE_CONTENT_H

#include "common/base/decls.h"
#include "media/source/source.h"
#include "sender/policy/content_ladder.h"

DECLS_BEGIN

// `s`: the film, which is opened again by its `name`. `fixed`: the ladder that it has otherwise; it
// has no size that passes (level.h). Returns true if *out is a better one; logs its levels, or why
// the film keeps the fixed ladder.
bool prepare_content(const char *name, const struct source *s, const struct ladder *fixed,
                     struct content_ladder *out);

DECLS_END
#endif
