// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a stored ladder, group by group. Blocks: call it on one thread at a time, not on a loop's.
#ifndef WEIR_MEDIA_STORED_STORED_FILE_H
#define WEIR_MEDIA_STORED_STORED_FILE_H

#include "common/base/decls.h"
#include "media/source/media_guard.h"
#include "media/stored/stored_group.h"

DECLS_BEGIN

struct stored_file;

// Returns true if the name is a stored ladder's; does not open the file.
bool stored_file_is(const char *path);
// `guard` and *err: see media_input_open; ERR_UNSUPPORTED also if the file is not a stored ladder
// or is damaged. Returns NULL on failure, which it logs.
struct stored_file *stored_file_open(const char *path, struct media_guard *guard, int *err);
void stored_file_free(struct stored_file *f); // NULL is fine
const struct stored_info *stored_file_info(const struct stored_file *f);
// Returns the film's table as it is attached to the file, or NULL; borrowed.
const uint8_t *stored_file_table(const struct stored_file *f, size_t *bytes);
// Reads a group into *out, which the caller owns. Returns 0, ERR_IO (logged) or ERR_NO_MEMORY.
int stored_file_read(struct stored_file *f, int64_t group, struct stored_group **out);

DECLS_END
#endif
