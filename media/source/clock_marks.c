// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/clock_marks.h"

#include <stdlib.h>

#define APART (USEC_PER_SEC / 2)

enum { MOST = 65536 };

void clock_marks_add(struct clock_marks *m, struct clock_mark mark)
{
    const struct clock_mark *last = m->count ? &m->marks[m->count - 1] : NULL;
    bool is_same = last && mark.time - last->time == mark.stamp - last->stamp;
    if (m->count == MOST || (is_same && mark.time - last->time < APART))
        return;
    if (m->count == m->cap) {
        int cap = m->cap ? 2 * m->cap : 64;
        struct clock_mark *more = realloc(m->marks, (size_t)cap * sizeof(*more));
        if (!more)
            return;
        m->marks = more;
        m->cap = cap;
    }
    m->marks[m->count++] = mark;
}

const struct clock_mark *clock_marks_find(const struct clock_marks *m, usec_t time)
{
    if (!m->jumps || !m->count)
        return NULL;
    int i = m->count - 1;
    while (i > 0 && m->marks[i].time > time)
        i--;
    return &m->marks[i];
}

void clock_marks_free(struct clock_marks *m)
{
    free(m->marks);
    *m = (struct clock_marks){0};
}
