// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the film's table of the parts of a stored ladder (stored_parts.h).
#ifndef WEIR_SENDER_PREPARE_PREPARE_TABLE_H
#define WEIR_SENDER_PREPARE_PREPARE_TABLE_H

#include "common/base/decls.h"
#include "common/wire/sdp.h"
#include "media/stored/policy/stored_plan.h"
#include "stream/abr/film_table.h"

DECLS_BEGIN

// The film has `frames` source frames, and `plan` ends there. It has quality if all parts have:
// those of an older version have none. Returns 0, ERR_RANGE: it is too long, or a group too large,
// for a table; ERR_IO (logged) or ERR_NO_MEMORY.
int prepare_table(const struct ladder *ladder, const struct stored_plan *plan, const char *folder,
                  int64_t frames, struct film_table **out);

DECLS_END
#endif
