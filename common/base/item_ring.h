// SPDX-License-Identifier: GPL-2.0-or-later
// A bounded queue of pointers, first in first out. The queues between threads (common/net) use it.
#ifndef WEIR_BASE_ITEM_RING_H
#define WEIR_BASE_ITEM_RING_H

#include <stdbool.h>

#include "common/base/decls.h"

DECLS_BEGIN

typedef void item_free_fn(void *item);

struct item_ring {
    void **items; // owned array
    int capacity;
    int head; // index of the oldest item
    int count;
    item_free_fn *free_item; // static
};

bool item_ring_init(struct item_ring *r, int capacity, item_free_fn *free_item); // false: no memory
void item_ring_destroy(struct item_ring *r);          // frees the remaining items
bool item_ring_push(struct item_ring *r, void *item); // false: full, the caller keeps the item
void *item_ring_pop(struct item_ring *r);             // NULL: empty
void item_ring_clear(struct item_ring *r);            // frees and removes all items

DECLS_END
#endif
