// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/item_ring.h"

#include <assert.h>
#include <stdlib.h>

bool item_ring_init(struct item_ring *r, int capacity, item_free_fn *free_item)
{
    assert(capacity > 0);
    *r = (struct item_ring){.items = calloc((size_t)capacity, sizeof(*r->items)),
                            .capacity = capacity,
                            .free_item = free_item};
    return r->items != NULL;
}

void item_ring_destroy(struct item_ring *r)
{
    item_ring_clear(r);
    free(r->items);
}

bool item_ring_push(struct item_ring *r, void *item)
{
    if (r->count == r->capacity)
        return false;
    r->items[(r->head + r->count++) % r->capacity] = item;
    return true;
}

void *item_ring_pop(struct item_ring *r)
{
    if (!r->count)
        return NULL;
    void *item = r->items[r->head];
    r->head = (r->head + 1) % r->capacity;
    r->count--;
    return item;
}

void item_ring_clear(struct item_ring *r)
{
    void *item;
    while ((item = item_ring_pop(r)))
        r->free_item(item);
}
