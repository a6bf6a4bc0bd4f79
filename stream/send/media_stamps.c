// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/media_stamps.h"

void media_stamps_init(struct media_stamps *m, struct fps fps)
{
    *m = (struct media_stamps){.fps = fps, .now = {.pace = 1}, .before = {.pace = 1}};
}

void media_stamps_set(struct media_stamps *m, double pace, int64_t from)
{
    if (pace == m->now.pace)
        return;
    struct media_stamps_piece next = {.from = from, .at = media_stamps_of(m, from), .pace = pace};
    m->before = m->now;
    m->now = next;
}

static usec_t later(const struct media_stamps_piece *p, usec_t since)
{
    return p->at + (p->pace == 1 ? since : (usec_t)((double)since / p->pace));
}

static usec_t media_of(const struct media_stamps *m, int64_t number)
{
    return usec_of_frames(number, m->fps.num, m->fps.den);
}

usec_t media_stamps_of(const struct media_stamps *m, int64_t number)
{
    const struct media_stamps_piece *p = number < m->now.from ? &m->before : &m->now;
    return later(p, media_of(m, number - p->from));
}

usec_t media_stamps_of_media(const struct media_stamps *m, usec_t media)
{
    const struct media_stamps_piece *p = media < media_of(m, m->now.from) ? &m->before : &m->now;
    return later(p, media - media_of(m, p->from));
}
