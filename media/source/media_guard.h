// SPDX-License-Identifier: GPL-2.0-or-later
// What the reading of a file, and of files next to it, may do: how long, and below which folder. It
// also stops the reading from another thread. The owner of the file and each open file share a
// guard, which is reference-counted. Thread-safe.
#ifndef WEIR_MEDIA_SOURCE_MEDIA_GUARD_H
#define WEIR_MEDIA_SOURCE_MEDIA_GUARD_H

#include <stdbool.h>
#include <sys/stat.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct media_guard; // opaque

// Returns a guard with one reference; NULL: no memory. `deadline`: of the opening, or USEC_NEVER.
struct media_guard *media_guard_new(usec_t deadline);
// The same; no file is opened but those that file_below.h opens below `root`, which is copied.
struct media_guard *media_guard_new_below(const char *root, usec_t deadline);
struct media_guard *media_guard_ref(struct media_guard *g); // all functions accept NULL
void media_guard_unref(struct media_guard *g);
void media_guard_stop(struct media_guard *g);                   // cannot be undone
void media_guard_until(struct media_guard *g, usec_t deadline); // replaces the deadline
// Returns 0 if reading may continue; ERR_CLOSED after a stop; ERR_TIMED_OUT after the deadline.
int media_guard_check(struct media_guard *g);
// Opens a file for reading, and finds one: see file_below.h.
int media_guard_open(struct media_guard *g, const char *path, struct stat *st);
bool media_guard_find(struct media_guard *g, const char *path, struct stat *st);

DECLS_END
#endif
