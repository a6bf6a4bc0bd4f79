// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/goddard_feed.h"

#include <string.h>

bool goddard_feed_loses_frames(const char *transport)
{
    return strcmp(transport, "tcp") != 0;
}

void goddard_feed_init(struct goddard_feed *f, const struct goddard_config *config,
                       uint32_t first_pair, usec_t now)
{
    *f = (struct goddard_feed){.asked = first_pair - 1};
    first_rate_init(&f->rate);
    goddard_init(&f->policy, config, now);
    frame_count_init(&f->frames, config->ladder);
}

void goddard_feed_rtt(struct goddard_feed *f, usec_t rtt)
{
    first_rate_set_rtt(&f->rate, rtt);
}

usec_t goddard_feed_span(const struct goddard_feed *f)
{
    return f->rate.span;
}

uint32_t goddard_feed_ask(struct goddard_feed *f)
{
    f->came[0] = f->came[1] = false;
    return ++f->asked;
}

void goddard_feed_pair(struct goddard_feed *f, const struct capacity_packet *p, size_t bytes,
                       usec_t arrived, usec_t now)
{
    if (p->pair != f->asked || f->came[p->which])
        return;
    f->came[p->which] = true;
    f->pair.arrived[p->which] = arrived;
    f->pair.bytes[p->which] = bytes;
    if (f->came[0] && f->came[1])
        goddard_on_pair(&f->policy, &f->pair, now);
}

void goddard_feed_media(struct goddard_feed *f, const struct goddard_media *m, usec_t now)
{
    if (f->policy.state == GODDARD_PROBE && first_rate_packet(&f->rate, m->bytes, m->arrived))
        goddard_on_media_rate(&f->policy, f->rate.bps, now);
    struct goddard_frames frames = {
        .lost = frame_count_packet(&f->frames, m->number, m->reorder, m->level),
        .bytes = (int64_t)m->bytes};
    goddard_on_frames(&f->policy, &frames, now);
}

void goddard_feed_whole(struct goddard_feed *f, int64_t number, usec_t held, usec_t now)
{
    struct goddard_frames frames = {.received = frame_count_whole(&f->frames, number)};
    if (frames.received)
        goddard_on_frames(&f->policy, &frames, now);
    goddard_on_buffer(&f->policy, held, now);
}

void goddard_feed_resume(struct goddard_feed *f, usec_t now)
{
    frame_count_restart(&f->frames);
    goddard_on_resume(&f->policy, now);
    goddard_on_flush(&f->policy, now);
}
