// SPDX-License-Identifier: GPL-2.0-or-later
// Which sizes of the media a sender watches: the one that it sends, and, while another size's key
// frame is awaited, that one too. Pure.
#ifndef WEIR_STREAM_SEND_SIZE_WATCH_H
#define WEIR_STREAM_SEND_SIZE_WATCH_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SIZE_WATCH_CHANGES = 4 };

struct size_watch { // size_watch.c alone reads and writes the fields
    int sizes[2];   // -1: none
};

struct size_watch_change {
    int size_id;
    int viewers; // +1: it is watched from now on; -1: no longer
};

void size_watch_init(struct size_watch *w);
// From now on these two are watched; -1: none. Fills in what changes, sizes that are new first, so
// that media which both need does not stop in between. Returns how many changes these are.
int size_watch_set(struct size_watch *w, int size_id, int awaited,
                   struct size_watch_change out[SIZE_WATCH_CHANGES]);

#ifdef __cplusplus
}
#endif
#endif
