// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/filler.h"

void filler_begin(struct filler *f, usec_t now)
{
    f->begun_at = f->due_at = now;
}

bool filler_is_due(const struct filler *f, usec_t now)
{
    return f->greedy || now >= f->due_at;
}

usec_t filler_next(const struct filler *f, usec_t now)
{
    return f->due_at > now ? f->due_at : USEC_NEVER;
}

usec_t filler_interval(const struct filler *f, size_t bytes, int bps)
{
    return f->greedy ? 0 : usec_max((usec_t)bytes * 8 * USEC_PER_SEC / bps, 1);
}

void filler_expire(struct filler *f, usec_t interval, usec_t latency, usec_t now)
{
    usec_t late = now - latency - f->due_at;
    if (f->greedy || late <= 0)
        return;
    int64_t count = late / interval + 1;
    f->number += count;
    f->due_at += count * interval;
}

void filler_packet(const struct filler *f, size_t bytes, usec_t wall, struct outgoing_packet *out,
                   usec_t now)
{
    static const uint8_t zeros[65536];
    usec_t written_at = f->greedy ? now : f->due_at;
    usec_t written_wall = wall - (now - written_at);
    *out = (struct outgoing_packet){
        .track = TRACK_VIDEO,
        .rtp = {.marker = true,
                .has_adu = true,
                .adu = {.frame = (uint32_t)f->number,
                        .written_us = (uint32_t)written_wall,
                        .key = true,
                        .first = true,
                        .last = true},
                .has_capture = true,
                .capture_wall = written_wall},
        .payload = {.body = zeros, .body_len = bytes < sizeof(zeros) ? bytes : sizeof(zeros)},
        .number = f->number,
        .pts = written_at - f->begun_at,
    };
}

void filler_sent(struct filler *f, usec_t interval)
{
    f->number++;
    f->due_at += interval;
}
