// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/frame_store.h"

#include <stdlib.h>

struct frame_store {
    bool keeps;
    int first; // of the ring
    int count;
    int given; // of `count`
    size_t bytes;
    struct coded_frame *frames[FRAME_STORE_FRAMES]; // one reference each
};

struct frame_store *frame_store_new(bool keeps)
{
    struct frame_store *s = calloc(1, sizeof(*s));
    if (s)
        s->keeps = keeps;
    return s;
}

static struct coded_frame **at(struct frame_store *s, int i)
{
    return &s->frames[(s->first + i) % FRAME_STORE_FRAMES];
}

static void drop_first(struct frame_store *s)
{
    s->bytes -= (*at(s, 0))->bytes;
    coded_frame_unref(*at(s, 0));
    s->first = (s->first + 1) % FRAME_STORE_FRAMES;
    s->count--;
    s->given -= s->given > 0;
}

void frame_store_clear(struct frame_store *s)
{
    while (s->count)
        drop_first(s);
}

void frame_store_free(struct frame_store *s)
{
    if (!s)
        return;
    frame_store_clear(s);
    free(s);
}

void frame_store_add(struct frame_store *s, struct coded_frame *f)
{
    if (!s->keeps)
        while (s->given)
            drop_first(s);
    while (s->count && (s->count == FRAME_STORE_FRAMES || s->bytes + f->bytes > FRAME_STORE_BYTES))
        drop_first(s);
    *at(s, s->count++) = coded_frame_ref(f);
    s->bytes += f->bytes;
}

struct coded_frame *frame_store_next(struct frame_store *s)
{
    return s->given < s->count ? *at(s, s->given++) : NULL;
}

void frame_store_renew(struct frame_store *s, usec_t now)
{
    for (int i = s->given; i < s->count; i++) {
        (*at(s, i))->hides_capture = true;
        (*at(s, i))->captured = now;
    }
}

void frame_store_rewind(struct frame_store *s, int64_t slot)
{
    while (s->given) {
        const struct coded_frame *f = *at(s, s->given - 1);
        if (f->number + f->reorder < slot)
            return;
        s->given--;
    }
}
