// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rewind/policy/past_ring.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/level.h"

enum { FIRST_ROOM = 256, ITEM_BYTES = 64 }; // of an item besides its data, roughly

struct past_ring {
    struct past_ring_config config;
    struct past_item *items; // owned; the item of a serial number is at its place modulo `room`
    int64_t room;            // a power of 2
    int64_t begin;
    int64_t end;
    size_t bytes;
    usec_t keyed[LADDER_MAX_SIZES]; // capture of the last frame that started the size, or of the
                                    // frame after which one was requested
};

struct past_ring *past_ring_new(const struct past_ring_config *config)
{
    assert(config->span > 0 && config->bytes > 0);
    struct past_ring *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->config = *config;
    r->room = FIRST_ROOM;
    r->items = calloc((size_t)r->room, sizeof(*r->items));
    if (r->items)
        return r;
    free(r);
    return NULL;
}

static struct past_item *item_of(const struct past_ring *r, int64_t serial)
{
    return &r->items[serial & (r->room - 1)];
}

static size_t bytes_of(const struct past_item *i)
{
    return ITEM_BYTES + (i->frame ? sizeof(*i->frame) + i->frame->bytes : sizeof(*i->audio));
}

static void drop_oldest(struct past_ring *r)
{
    struct past_item *i = item_of(r, r->begin);
    r->bytes -= bytes_of(i);
    coded_frame_unref(i->frame);
    coded_audio_unref(i->audio);
    *i = (struct past_item){0};
    r->begin++;
}

void past_ring_clear(struct past_ring *r)
{
    while (r->begin < r->end)
        drop_oldest(r);
}

void past_ring_free(struct past_ring *r)
{
    if (!r)
        return;
    past_ring_clear(r);
    free(r->items);
    free(r);
}

static bool grow(struct past_ring *r)
{
    struct past_item *more = calloc((size_t)r->room * 2, sizeof(*more));
    if (!more)
        return false;
    for (int64_t s = r->begin; s < r->end; s++)
        more[s & (2 * r->room - 1)] = *item_of(r, s);
    free(r->items);
    r->items = more;
    r->room *= 2;
    return true;
}

// Returns false if there is no memory.
static bool add(struct past_ring *r, const struct past_item *i)
{
    if (r->end - r->begin == r->room && !grow(r))
        return false;
    *item_of(r, r->end++) = *i;
    r->bytes += bytes_of(i);
    while (r->begin < r->end && (r->bytes > r->config.bytes ||
                                 item_of(r, r->begin)->captured < i->captured - r->config.span))
        drop_oldest(r);
    return true;
}

bool past_ring_frame(struct past_ring *r, struct coded_frame *f)
{
    assert(f->size_id >= 0 && f->size_id < LADDER_MAX_SIZES);
    usec_t *keyed = &r->keyed[f->size_id];
    struct past_item i = {.frame = coded_frame_ref(f), .captured = f->captured};
    if (!add(r, &i))
        coded_frame_unref(f);
    if (!coded_frame_starts(f) && f->captured - *keyed < PAST_RING_KEYS)
        return false;
    *keyed = f->captured;
    return !coded_frame_starts(f);
}

void past_ring_audio(struct past_ring *r, struct coded_audio *c)
{
    struct past_item i = {.audio = coded_audio_ref(c), .captured = c->captured};
    if (!add(r, &i))
        coded_audio_unref(c);
}

int64_t past_ring_begin(const struct past_ring *r)
{
    return r->begin;
}

int64_t past_ring_end(const struct past_ring *r)
{
    return r->end;
}

const struct past_item *past_ring_at(const struct past_ring *r, int64_t serial)
{
    return serial >= r->begin && serial < r->end ? item_of(r, serial) : NULL;
}

static bool starts(const struct past_item *i)
{
    return i->frame && coded_frame_starts(i->frame);
}

int64_t past_ring_find(const struct past_ring *r, int size_id, usec_t time)
{
    // For each size the newest start up to `time`.
    int64_t newest[LADDER_MAX_SIZES], oldest = -1;
    for (int i = 0; i < LADDER_MAX_SIZES; i++)
        newest[i] = -1;
    for (int64_t s = r->begin; s < r->end; s++) {
        const struct past_item *i = item_of(r, s);
        if (!starts(i))
            continue;
        if (oldest < 0)
            oldest = s;
        if (i->captured <= time)
            newest[i->frame->size_id] = s;
    }
    for (int away = 0; away < LADDER_MAX_SIZES; away++) {
        if (size_id - away >= 0 && newest[size_id - away] >= 0)
            return newest[size_id - away];
        if (size_id + away < LADDER_MAX_SIZES && newest[size_id + away] >= 0)
            return newest[size_id + away];
    }
    return oldest;
}

int64_t past_ring_start_of(const struct past_ring *r, int size_id, int64_t serial)
{
    for (int64_t s = (serial < r->end ? serial : r->end) - 1; s >= r->begin; s--)
        if (starts(item_of(r, s)) && item_of(r, s)->frame->size_id == size_id)
            return s;
    return -1;
}
