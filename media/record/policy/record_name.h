// SPDX-License-Identifier: GPL-2.0-or-later
// The names of recordings. A pattern is a path whose last component may have conversions of
// strftime(3): %Y %m %d %H %M %S and %%. It ends in ".mkv". If a name is taken, "+2", "+3" ... up
// to RECORD_NAME_COPIES is put before the ".mkv": no recording replaces a file.
#ifndef WEIR_MEDIA_RECORD_POLICY_RECORD_NAME_H
#define WEIR_MEDIA_RECORD_POLICY_RECORD_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { RECORD_NAME_COPIES = 99 };

struct record_time { // local time, as people write it: month and day begin with 1
    int year, month, day, hour, minute, second;
};

// Writes the pattern with `name` in place of each %N, in the folders' names, too; a path after it
// has no %N. Returns 0; ERR_NOT_FOUND: it has no %N, and is copied; ERR_FULL: `cap` is too small.
int record_name_expand(const char *pattern, const char *name, char *out, size_t cap);
// Returns NULL, or what the pattern lacks, for people.
const char *record_name_fault(const char *pattern);
// Returns true if the pattern has a part of the time, so that the names of segments differ.
bool record_name_has_time(const char *pattern);
// Writes the path of a recording that begins at `t`. `copy`: 1, or 2 .. RECORD_NAME_COPIES. Returns
// 0, or ERR_FULL: `cap` is too small.
int record_name_make(const char *pattern, const struct record_time *t, int copy, char *out,
                     size_t cap);
// Returns true if record_name_make may have made the path's last component, `name`.
bool record_name_matches(const char *pattern, const char *name);
// Reads the time of such a name into *t, in which parts that the pattern lacks are those of 1970.
// Returns false if record_name_make made no such name.
bool record_name_time(const char *pattern, const char *name, struct record_time *t);
// Writes the path of the folder, "." if the pattern has none. Returns 0, or ERR_FULL.
int record_name_folder(const char *pattern, char *out, size_t cap);

DECLS_END
#endif
