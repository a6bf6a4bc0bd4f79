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

static struct received_frame *layer_at(const struct held_layers *h, int i)
{
    return h->held[h->first + i];
}

// Returns the index of the first layer from that of `size_id` of picture `number` on.
static int index_of(const struct held_layers *h, int64_t number, int size_id)
{
    int i = h->count;
    while (i > 0 &&
           (layer_at(h, i - 1)->number > number ||
            (layer_at(h, i - 1)->number == number && layer_at(h, i - 1)->size_id >= size_id)))
        i--;
    return i;
}

static bool is_at(const struct held_layers *h, int i, int64_t number, int size_id)
{
    return i < h->count && layer_at(h, i)->number == number && layer_at(h, i)->size_id == size_id;
}

// Makes room for one more behind the last.
static int make_room(struct held_layers *h)
{
    if (h->first + h->count < h->room)
        return 0;
    if (h->first > h->count) { // so each layer is moved once, on average
        memmove(&h->held[0], &h->held[h->first], (size_t)h->count * sizeof(h->held[0]));
        h->first = 0;
        return 0;
    }
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
    if (make_room(h) != 0)
        return ERR_NO_MEMORY;
    struct received_frame **at = &h->held[h->first + i];
    memmove(at + 1, at, (size_t)(h->count - i) * sizeof(*at));
    *at = f;
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

static struct received_frame *take_first(struct held_layers *h)
{
    struct received_frame *f = h->held[h->first++];
    h->count--;
    h->bytes -= f->bytes;
    return f;
}

void held_layers_join(struct held_layers *h, struct received_frame *f)
{
    held_layers_drop_below(h, f->number);
    struct received_frame *top = f;
    while (is_at(h, 0, f->number, top->size_id + 1)) {
        top->upper = take_first(h);
        top = top->upper;
    }
    held_layers_drop_below(h, f->number + 1);
}

void held_layers_drop_below(struct held_layers *h, int64_t number)
{
    while (h->count > 0 && layer_at(h, 0)->number < number)
        received_frame_free(take_first(h));
}

void held_layers_drop_all(struct held_layers *h)
{
    held_layers_drop_below(h, INT64_MAX);
    free(h->held);
    *h = (struct held_layers){0};
}
