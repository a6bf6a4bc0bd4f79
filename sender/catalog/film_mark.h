// SPDX-License-Identifier: GPL-2.0-or-later
// Tells whether a film is still the one that was seen before: its file, and the one that --prepare
// made of it. Any thread.
#ifndef WEIR_SENDER_CATALOG_FILM_MARK_H
#define WEIR_SENDER_CATALOG_FILM_MARK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "common/base/decls.h"
#include "media/source/media_guard.h"

DECLS_BEGIN

struct film_mark {
    uint64_t device, inode;
    int64_t bytes;
    int64_t changed_ns;  // when its content changed last, of the system's clock
    int64_t prepared_ns; // the same of its prepared file; 0: there is none
};

// `st`: of the film at `path`. `guard`: of the folder that may be looked at; NULL: any.
struct film_mark film_mark_of(const char *path, const struct stat *st, struct media_guard *guard);
bool film_mark_is_same(const struct film_mark *a, const struct film_mark *b);

DECLS_END
#endif
