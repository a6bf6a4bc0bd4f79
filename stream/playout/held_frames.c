// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/held_frames.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

struct held {
    struct received_frame *frame; // owned
    usec_t since;
};

struct held_frames {
    int count;
    size_t bytes;
    struct held held[HELD_FRAMES_MAX];
};

struct held_frames *held_frames_new(void)
{
    return calloc(1, sizeof(struct held_frames));
}

void held_frames_free(struct held_frames *h)
{
    if (h)
        held_frames_drop_all(h);
    free(h);
}

int held_frames_count(const struct held_frames *h)
{
    return h->count;
}

size_t held_frames_bytes(const struct held_frames *h)
{
    return h->bytes;
}

const struct received_frame *held_frames_at(const struct held_frames *h, int i)
{
    return h->held[i].frame;
}

usec_t held_frames_since(const struct held_frames *h, int i)
{
    return h->held[i].since;
}

int held_frames_add(struct held_frames *h, struct received_frame *f, bool *full, usec_t now)
{
    int64_t slot = received_frame_slot(f);
    int i = h->count;
    while (i > 0 && received_frame_slot(h->held[i - 1].frame) >= slot) {
        i--;
        struct received_frame *other = h->held[i].frame;
        if (other->number != f->number || other->size_id != f->size_id)
            continue;
        if ((int32_t)(f->last_written_us - other->last_written_us) > 0)
            other->last_written_us = f->last_written_us;
        return ERR_RANGE;
    }
    while (h->count == HELD_FRAMES_MAX || h->bytes + f->bytes > HELD_FRAMES_MAX_BYTES) {
        *full = true;
        if (i == h->count)
            return ERR_FULL;
        held_frames_drop(h, h->count - 1);
    }
    memmove(&h->held[i + 1], &h->held[i], (size_t)(h->count - i) * sizeof(h->held[0]));
    h->held[i] = (struct held){f, now};
    h->count++;
    h->bytes += f->bytes;
    return ERR_OK;
}

struct received_frame *held_frames_take(struct held_frames *h, int i)
{
    struct received_frame *f = h->held[i].frame;
    h->bytes -= f->bytes;
    h->count--;
    memmove(&h->held[i], &h->held[i + 1], (size_t)(h->count - i) * sizeof(h->held[0]));
    return f;
}

void held_frames_drop(struct held_frames *h, int i)
{
    received_frame_free(held_frames_take(h, i));
}

void held_frames_drop_all(struct held_frames *h)
{
    while (h->count > 0)
        held_frames_drop(h, h->count - 1);
}

void held_frames_paused(struct held_frames *h, usec_t pause)
{
    for (int i = 0; i < h->count; i++)
        h->held[i].since += pause;
}

int held_frames_first_key(const struct held_frames *h)
{
    int i = 0;
    while (i < h->count && !h->held[i].frame->key)
        i++;
    return i;
}

int64_t held_frames_lowest(const struct held_frames *h, int64_t from)
{
    int64_t lowest = -1;
    for (int i = 0; i < h->count && i < HELD_FRAMES_REORDER; i++) {
        int64_t number = h->held[i].frame->number;
        if (number >= from && (lowest < 0 || number < lowest))
            lowest = number;
    }
    return lowest;
}

bool held_frames_has_behind(const struct held_frames *h, int64_t number)
{
    for (int i = 1; i < h->count && i < HELD_FRAMES_REORDER; i++)
        if (h->held[i].frame->number == number)
            return true;
    return false;
}

bool held_frames_reach(const struct held_frames *h, int64_t number)
{
    for (int i = 0; i < h->count; i++) {
        const struct received_frame *f = h->held[i].frame;
        if (f->number == number || (f->number > number && received_frame_slot(f) > number))
            return true;
    }
    return false;
}
