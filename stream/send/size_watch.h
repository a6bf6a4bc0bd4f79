// SPDX-License-Identifier: GPL-2.0-or-later
// The sizes of the media that a sender watches: the one that it sends, and, while it waits for
// another size's key frame, that size too. Pure.
#ifndef WEIR_STREAM_SEND_SIZE_WATCH_H
#define WEIR_STREAM_SEND_SIZE_WATCH_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/level.h"

DECLS_BEGIN

enum { SIZE_WATCH_CHANGES = LADDER_MAX_SIZES };

struct size_watch { // size_watch.c alone reads and writes the fields
    unsigned sizes; // a bit a size
};

struct size_watch_change {
    int size_id;
    int viewers; // +1: start watching it; -1: stop watching it
};

void size_watch_init(struct size_watch *w);
// Sets the sizes to watch, a bit each. Writes the changes to `out`, new sizes first, so that media
// which old and new sizes need does not stop in between. Returns the number of changes.
int size_watch_set(struct size_watch *w, unsigned sizes,
                   struct size_watch_change out[SIZE_WATCH_CHANGES]);

DECLS_END
#endif
