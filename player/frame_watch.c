// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/frame_watch.h"

void frame_watch_init(struct frame_watch *w, const struct ladder *ladder, int level)
{
    *w = (struct frame_watch){.newest = -1, .whole_at = USEC_NEVER};
    level_schedule_init(&w->schedule, ladder, level);
}

// All frames before `number` are decided: those still open are lost.
static void give_up_before(struct frame_watch *w, int64_t number)
{
    int64_t n = level_schedule_next(&w->schedule, w->next);
    for (; n < number; n = level_schedule_next(&w->schedule, n + 1)) {
        w->found.lost++;
        w->lost_since++;
    }
    if (w->next < number)
        w->next = number;
}

void frame_watch_packet(struct frame_watch *w, const struct watched_packet *p)
{
    w->found.bytes += (int64_t)p->bytes;
    if (!w->started || p->number > w->newest + FRAME_WATCH_AHEAD) {
        w->started = true;
        w->next = p->number;
        w->whole_at = USEC_NEVER;
    }
    level_schedule_see(&w->schedule, p->number, p->level, p->size_id, p->temporal_id, p->key);
    if (p->number > w->newest)
        w->newest = p->number;
    give_up_before(w, p->number);
}

usec_t frame_watch_whole(struct frame_watch *w, int64_t number, bool late, usec_t now)
{
    if (number < w->next)
        return -1;
    w->next = number + 1;
    w->found.late += late;
    w->found.received += !late;
    usec_t jitter = w->whole_at == USEC_NEVER ? -1 : (now - w->whole_at) / (w->lost_since + 1);
    w->whole_at = now;
    w->lost_since = 0;
    return jitter;
}

bool frame_watch_take(struct frame_watch *w, struct goddard_frames *out)
{
    *out = w->found;
    w->found = (struct goddard_frames){0};
    return out->received || out->lost || out->late || out->bytes;
}
