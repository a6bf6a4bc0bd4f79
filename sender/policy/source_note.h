// SPDX-License-Identifier: GPL-2.0-or-later
// Says that viewers get less than the source has, why, and which option changes it. Pure.
#ifndef WEIR_SENDER_POLICY_SOURCE_NOTE_H
#define WEIR_SENDER_POLICY_SOURCE_NOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/level.h"

DECLS_BEGIN

enum { SOURCE_NOTE_TEXT = 320 };

enum source_note {
    SOURCE_NOTE_SPEED,    // the machine encodes no more
    SOURCE_NOTE_VP9,      // the default of VP9
    SOURCE_NOTE_TEST,     // the default of the test picture
    SOURCE_NOTE_PREPARED, // a prepared file has no more
};

// Writes the line to `out` and returns true; false if the ladder's top level has the source's size
// and rate.
bool source_note(const struct ladder *ladder, enum source_note why, char *out, size_t cap);

DECLS_END
#endif
