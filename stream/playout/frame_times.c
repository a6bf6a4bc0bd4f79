// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/frame_times.h"

#include <stdlib.h>

#include "common/base/seq.h"
#include "media/coded/relayed_frame.h"

#define LONGEST_PTS ((usec_t)1 << 60)

struct stamp {
    int64_t number; // -1: none
    usec_t pts;
};

struct frame_times {
    const struct ladder *ladder; // borrowed: its source_fps
    bool stamped;
    bool has_ticks;
    int64_t last_ticks;     // extended RTP time stamp of the frame that arrived last
    struct shown_line line; // with levels
    struct stamp stamps[];  // FRAME_TIMES_STAMPS by number, if `stamped`
};

struct frame_times *frame_times_new(const struct ladder *ladder, bool stamped)
{
    int count = stamped ? FRAME_TIMES_STAMPS : 0;
    struct frame_times *t = malloc(sizeof(*t) + (size_t)count * sizeof(t->stamps[0]));
    if (!t)
        return NULL;
    *t = (struct frame_times){.ladder = ladder, .stamped = stamped};
    for (int i = 0; i < count; i++)
        t->stamps[i].number = -1;
    return t;
}

void frame_times_free(struct frame_times *t)
{
    free(t);
}

// usec_of_frames for rates from outside: never overflows.
static usec_t nominal(const struct frame_times *t, int64_t number)
{
    __int128 pts =
        (__int128)number * USEC_PER_SEC * t->ladder->source_fps.den / t->ladder->source_fps.num;
    return pts < LONGEST_PTS ? (usec_t)pts : LONGEST_PTS;
}

usec_t frame_times_see(struct frame_times *t, const struct received_frame *f)
{
    if (!t->stamped)
        return nominal(t, f->number);
    struct stamp *at = &t->stamps[f->number % FRAME_TIMES_STAMPS];
    if (t->ladder->level_count > 0) {
        usec_t after = shown_line_after(&t->line, f, t->ladder->source_fps);
        *at = (struct stamp){f->number, nominal(t, f->number) + after};
        return at->pts;
    }
    t->last_ticks = t->has_ticks ? seq32_extend(t->last_ticks, f->rtp_timestamp) : f->rtp_timestamp;
    t->has_ticks = true;
    *at = (struct stamp){f->number, rtp_usec(t->last_ticks, RTP_CLOCK_RATE)};
    return at->pts;
}

usec_t frame_times_of(const struct frame_times *t, int64_t number)
{
    for (int64_t n = number; t->stamped && n >= 0 && n > number - FRAME_TIMES_REACH; n--) {
        const struct stamp *s = &t->stamps[n % FRAME_TIMES_STAMPS];
        if (s->number == n)
            return s->pts + nominal(t, number - n);
    }
    return nominal(t, number);
}

usec_t frame_times_interval(const struct frame_times *t)
{
    return nominal(t, 1);
}
