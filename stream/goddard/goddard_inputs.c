// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/goddard/goddard_inputs.h"

#include <math.h>

void goddard_inputs_init(struct goddard_inputs *f, const struct goddard_config *config,
                         uint32_t first_pair, usec_t now)
{
    *f = (struct goddard_inputs){.asked = first_pair - 1, .first_slot = -1};
    startup_rate_init(&f->rate);
    goddard_init(&f->policy, config, now);
    frame_loss_counter_init(&f->frames, config->ladder);
}

void goddard_inputs_rtt(struct goddard_inputs *f, usec_t rtt)
{
    startup_rate_set_rtt(&f->rate, rtt);
}

usec_t goddard_inputs_span(const struct goddard_inputs *f)
{
    return f->rate.span;
}

uint32_t goddard_inputs_ask(struct goddard_inputs *f)
{
    f->came[0] = f->came[1] = false;
    return ++f->asked;
}

void goddard_inputs_pair(struct goddard_inputs *f, const struct capacity_packet *p, size_t bytes,
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

// Returns true if whole frames arrived faster than they are played.
static bool keeps_up(const struct goddard_inputs *f, int level)
{
    const struct ladder *l = f->frames.ladder;
    if (!ladder_has_level(l, level))
        return false;
    double media = (double)(f->frames.newest - f->first_slot) / fps_value(l->source_fps) -
                   1 / level_frame_rate(l, level);
    return media >= usec_to_sec(f->rate.span);
}

void goddard_inputs_media(struct goddard_inputs *f, const struct goddard_media *m, usec_t now)
{
    struct goddard_frames frames = {
        .lost = frame_loss_counter_packet(&f->frames, m->number, m->reorder, m->level),
        .bytes = (int64_t)m->bytes};
    if (f->first_slot < 0)
        f->first_slot = f->frames.newest;
    if (f->policy.state == GODDARD_PROBE && startup_rate_packet(&f->rate, m->bytes, m->arrived))
        goddard_on_media_rate(&f->policy, keeps_up(f, m->level) ? INFINITY : f->rate.bps, now);
    goddard_on_frames(&f->policy, &frames, now);
}

void goddard_inputs_whole(struct goddard_inputs *f, int64_t number, usec_t held, usec_t now)
{
    struct goddard_frames frames = {.received = frame_loss_counter_whole(&f->frames, number)};
    if (frames.received)
        goddard_on_frames(&f->policy, &frames, now);
    goddard_on_buffer(&f->policy, held, now);
}

void goddard_inputs_resume(struct goddard_inputs *f, usec_t now)
{
    goddard_on_resume(&f->policy, now);
    goddard_inputs_seek(f, now);
}

void goddard_inputs_seek(struct goddard_inputs *f, usec_t now)
{
    frame_loss_counter_restart(&f->frames);
    goddard_on_flush(&f->policy, now);
}
