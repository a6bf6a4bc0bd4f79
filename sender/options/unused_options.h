// SPDX-License-Identifier: GPL-2.0-or-later
// Which of the given options have no effect, as no source is of the kind that they apply to.
// weir-send warns of them at the start.
#ifndef WEIR_SENDER_OPTIONS_UNUSED_OPTIONS_H
#define WEIR_SENDER_OPTIONS_UNUSED_OPTIONS_H

#include "common/base/decls.h"
#include "sender/options/options.h"

DECLS_BEGIN

enum { UNUSED_OPTIONS = 11 };

// Writes a warning for each, a static text, and returns their number. `is_folder`: the only source
// is a folder.
int unused_options(const struct options *o, bool is_folder, const char *out[UNUSED_OPTIONS]);

DECLS_END
#endif
