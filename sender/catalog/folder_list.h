// SPDX-License-Identifier: GPL-2.0-or-later
// Lists the films of a folder for viewers. The properties of a file are kept until it changes. The
// functions read files and block: call them on one thread at a time, not on a loop's.
#ifndef WEIR_SENDER_CATALOG_FOLDER_LIST_H
#define WEIR_SENDER_CATALOG_FOLDER_LIST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "common/base/decls.h"
#include "media/source/media_guard.h"

DECLS_BEGIN

enum { FOLDER_LIST_MAX = 1000 }; // max. files of a list

struct folder_list;

struct folder_list *folder_list_new(const char *root); // a real path, copied; NULL: no memory
void folder_list_free(struct folder_list *l);          // NULL is fine
// Lists the folder. Each file has a line with its path in a URL, its seconds and its sizes,
// separated by tabs. Opens new and changed files for at most `budget`, and each for at most `each`;
// values that are unknown after that are "?". `guard` stops it. Returns the number of files.
int folder_list_make(struct folder_list *l, char *out, size_t cap, usec_t budget, usec_t each,
                     struct media_guard *guard);

// Receives a film: its path in the folder, and its real path. Returns false to end the walk.
typedef bool folder_list_film(void *ctx, const char *path, const char *real, const struct stat *st);
// Calls `fn` for each film below `root`, a real path, that may be offered, in alphabetical order.
// Omits a prepared file whose original is there too. Opens no film.
void folder_list_walk(const char *root, folder_list_film *fn, void *ctx);

// Resolves `path` in the folder `root`. Returns true if the file exists and may be offered: not if
// a link leads out of the folder or to a hidden file.
bool folder_real_file(const char *root, const char *path, char real[PATH_MAX], struct stat *st);

DECLS_END
#endif
