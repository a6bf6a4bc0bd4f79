// SPDX-License-Identifier: GPL-2.0-or-later
// A binary heap of all nodes, including idle ones (USEC_NEVER): a node is in it from world_add to
// world_remove and only moves, so that waking a node never allocates.
#include "lab/link/world.h"

#include <stdlib.h>

#include "common/base/err.h"

// A total order: no two nodes have the same `order`, so the heap's shape does not affect the
// outcome.
static bool is_earlier(const struct node *a, const struct node *b)
{
    return a->next_run_at != b->next_run_at ? a->next_run_at < b->next_run_at : a->order < b->order;
}

static void place(struct world *w, size_t at, struct node *n)
{
    w->heap[at] = n;
    n->heap_at = at;
}

// Puts `n` into the free place `at`, or nearer to the root if it is earlier than its ancestors.
static void sift_up(struct world *w, size_t at, struct node *n)
{
    while (at > 0) {
        size_t parent = (at - 1) / 2;
        if (!is_earlier(n, w->heap[parent]))
            break;
        place(w, at, w->heap[parent]);
        at = parent;
    }
    place(w, at, n);
}

// Puts `n` into the free place `at`, or further from the root if it is later than its descendants.
static void sift_down(struct world *w, size_t at, struct node *n)
{
    for (size_t child; (child = 2 * at + 1) < w->count; at = child) {
        if (child + 1 < w->count && is_earlier(w->heap[child + 1], w->heap[child]))
            child++;
        if (!is_earlier(w->heap[child], n))
            break;
        place(w, at, w->heap[child]);
    }
    place(w, at, n);
}

void world_reschedule(struct world *w, struct node *n)
{
    size_t at = n->heap_at;
    assert(at < w->count && w->heap[at] == n);
    if (at > 0 && is_earlier(n, w->heap[(at - 1) / 2]))
        sift_up(w, at, n);
    else
        sift_down(w, at, n);
}

void world_init(struct world *w, usec_t now)
{
    *w = (struct world){.now = now};
}

void world_destroy(struct world *w)
{
    for (size_t i = 0; i < w->count; i++)
        w->heap[i]->world = NULL;
    free(w->heap);
    *w = (struct world){.now = w->now};
}

int world_add(struct world *w, struct node *n)
{
    assert(!n->world);
    if (w->count == w->capacity) {
        size_t capacity = w->capacity ? 2 * w->capacity : 16;
        struct node **heap = realloc(w->heap, capacity * sizeof(*heap));
        if (!heap)
            return ERR_NO_MEMORY;
        w->heap = heap;
        w->capacity = capacity;
    }
    n->world = w;
    n->order = w->added++;
    sift_up(w, w->count++, n);
    return 0;
}

void world_remove(struct world *w, struct node *n)
{
    assert(n->world == w && w->heap[n->heap_at] == n);
    struct node *last = w->heap[--w->count];
    if (last != n) {
        place(w, n->heap_at, last);
        world_reschedule(w, last);
    }
    n->world = NULL;
}

usec_t world_next(const struct world *w)
{
    return w->count ? w->heap[0]->next_run_at : USEC_NEVER;
}

void world_run(struct world *w, usec_t until)
{
    assert(until >= w->now);
    for (usec_t next; (next = world_next(w)) <= until && next != USEC_NEVER;) {
        // A node that requests a past instant is run now: time never runs backwards.
        w->now = usec_max(w->now, next);
        w->events++;
        node_run(w->heap[0], w->now);
    }
    if (until != USEC_NEVER)
        w->now = until;
}
