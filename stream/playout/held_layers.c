// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/held_layers.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

enum { FIRST_ROOM = 64 }; // doubled when needed

size_t held_layers_bytes(const struct held_layers *h)
{
    return h->bytes;
}

// Returns the index of the first layer from that of `size_id` of picture `number` on.
static int index_of(const struct held_layers *h, int64_t number, int size_id)
{
    int i = h->count;
    while (i > 0 && (h->held[i - 1]->number > number ||
                     (h->held[i - 1]->number == number && h->held[i - 1]->size_id >= size_id)))
        i--;
    return i;
}

static bool is_at(const struct held_layers *h, int i, int64_t number, int size_id)
{
    return i < h->count && h->held[i]->number == number && h->held[i]->size_id == size_id;
}

static int grow(struct held_layers *h)
{
    int room = h->room ? 2 * h->room : FIRST_ROOM;
    struct received_frame **held = realloc(h->held, (size_t)room * sizeof(*held));
    if (!held)
        return ERR_NO_MEMORY;
    h->held = held;
    h->room = room;
    return 0;
}

int held_layers_add(struct held_layers *h, struct received_frame *f)
{
    int i = index_of(h, f->number, f->size_id);
    if (is_at(h, i, f->number, f->size_id))
        return ERR_RANGE;
    if (h->count == HELD_LAYERS_MAX || h->bytes + f->bytes > HELD_LAYERS_MAX_BYTES)
        return ERR_FULL;
    if (h->count == h->room && grow(h) != 0)
        return ERR_NO_MEMORY;
    memmove(&h->held[i + 1], &h->held[i], (size_t)(h->count - i) * sizeof(h->held[0]));
    h->held[i] = f;
    h->count++;
    h->bytes += f->bytes;
    return 0;
}

bool held_layers_has(const struct held_layers *h, int64_t number, int size_id)
{
    int i = index_of(h, number, 1);
    for (int size = 1; size <= size_id; size++)
        if (!is_at(h, i + size - 1, number, size))
            return false;
    return true;
}

// Removes the first `count` layers; the caller has them.
static void remove_first(struct held_layers *h, int count)
{
    if (count == 0)
        return;
    h->count -= count;
    memmove(&h->held[0], &h->held[count], (size_t)h->count * sizeof(h->held[0]));
}

void held_layers_join(struct held_layers *h, struct received_frame *f)
{
    held_layers_drop_below(h, f->number);
    int joined = 0;
    for (struct received_frame *top = f; is_at(h, joined, f->number, joined + 1); joined++) {
        top->upper = h->held[joined];
        top = top->upper;
        h->bytes -= top->bytes;
    }
    remove_first(h, joined);
    held_layers_drop_below(h, f->number + 1);
}

void held_layers_drop_below(struct held_layers *h, int64_t number)
{
    int count = 0;
    for (; count < h->count && h->held[count]->number < number; count++) {
        h->bytes -= h->held[count]->bytes;
        received_frame_free(h->held[count]);
    }
    remove_first(h, count);
}

void held_layers_drop_all(struct held_layers *h)
{
    held_layers_drop_below(h, INT64_MAX);
    free(h->held);
    *h = (struct held_layers){0};
}
