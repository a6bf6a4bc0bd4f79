// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/outcome/frame_history.h"

#include <stdlib.h>

struct frame_history {
    struct frame_record records[FRAME_HISTORY_WINDOW];
};

struct frame_history *frame_history_new(void)
{
    struct frame_history *h = malloc(sizeof(*h));
    for (int i = 0; h && i < FRAME_HISTORY_WINDOW; i++)
        h->records[i].number = -1;
    return h;
}

void frame_history_free(struct frame_history *h)
{
    free(h);
}

const struct frame_record *frame_history_find(const struct frame_history *h, int64_t number)
{
    const struct frame_record *r = &h->records[(uint64_t)number % FRAME_HISTORY_WINDOW];
    return number >= 0 && r->number == number ? r : NULL;
}

struct frame_record *frame_history_make(struct frame_history *h, int64_t number)
{
    struct frame_record *r = &h->records[(uint64_t)number % FRAME_HISTORY_WINDOW];
    if (r->number != number)
        *r = (struct frame_record){.number = number, .outcome = {.depends_on = -1}};
    return r;
}
