// SPDX-License-Identifier: GPL-2.0-or-later
// The table of a prepared film (film_table.h), as it is attached to the file.
#ifndef WEIR_SERVER_STORED_STORED_TABLE_H
#define WEIR_SERVER_STORED_STORED_TABLE_H

#include "common/base/decls.h"
#include "media/stored/stored_file.h"
#include "stream/abr/film_table.h"

DECLS_BEGIN

// Returns the table, which the caller owns; NULL: the file has none, or one that is of no use, as
// of another film (logged with `path`).
struct film_table *stored_table_read(const struct stored_file *f, const char *path);

DECLS_END
#endif
