// SPDX-License-Identifier: GPL-2.0-or-later
// The films of a folder as a list for viewers. What a look into a file said is kept until the file
// changes. It reads files, so it blocks: one thread at a time, not a loop's.
#ifndef WEIR_SENDER_CATALOG_FOLDER_LIST_H
#define WEIR_SENDER_CATALOG_FOLDER_LIST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "media/source/media_guard.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FOLDER_LIST_MAX = 1000 }; // files

struct folder_list;

struct folder_list *folder_list_new(const char *root); // a real path, copied; NULL: no memory
void folder_list_free(struct folder_list *l);          // NULL is fine
// Lists the folder: a line a file with its path in a URL, seconds and sizes, tabs between. Looks
// into files that are new or have changed for at most `budget`, each for at most `each`; what is
// not known then has a "?". `guard` stops it. Returns the number of files.
int folder_list_make(struct folder_list *l, char *out, size_t cap, usec_t budget, usec_t each,
                     struct media_guard *guard);

// The real path of `path` in the folder `root`. Returns true if it is there and may be offered:
// links that lead out of the folder, or to what is hidden, do not count.
bool folder_real_file(const char *root, const char *path, char real[PATH_MAX], struct stat *st);

#ifdef __cplusplus
}
#endif
#endif
