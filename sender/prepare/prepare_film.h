// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes one film into a stored ladder, FILM.weir.mkv, of which its own video may be the top.
// After an interruption, the next run continues where this one stopped.
#ifndef WEIR_SENDER_PREPARE_PREPARE_FILM_H
#define WEIR_SENDER_PREPARE_PREPARE_FILM_H

#include "common/base/decls.h"
#include "sender/options/options.h"

DECLS_BEGIN

// Returns true if weir-send would use the existing FILM.weir.mkv for `name` with these options, and
// it has audio if one is wanted and there is one.
bool prepare_film_is_done(const struct options *o, const char *name);
// Encodes the film. `label` precedes the progress, such as "film 3 of 12: "; may be empty. Returns
// 0 or an error (logged).
int prepare_film(const struct options *o, const char *name, const char *label);

DECLS_END
#endif
