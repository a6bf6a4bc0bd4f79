// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/goddard/frame_loss_counter.h"

#include "common/base/seq.h"

enum { FRAME_AWAITED, FRAME_BEGUN, FRAME_WHOLE };

static uint8_t *state_of(struct frame_loss_counter *c, int64_t number)
{
    return &c->state[number % FRAME_LOSS_COUNTER_WINDOW];
}

void frame_loss_counter_init(struct frame_loss_counter *c, const struct ladder *ladder)
{
    *c = (struct frame_loss_counter){.ladder = ladder, .newest = -1};
}

void frame_loss_counter_restart(struct frame_loss_counter *c)
{
    frame_loss_counter_init(c, c->ladder);
}

// Decides the frames below `number`: each is lost unless it is whole or was not expected.
static int settle(struct frame_loss_counter *c, int64_t number, int level)
{
    int lost = 0;
    for (; c->settled < number; c->settled++) {
        int64_t n = c->settled;
        uint8_t *state = state_of(c, n);
        bool meant =
            level_has_frame(c->ladder, c->level, n) && level_has_frame(c->ladder, level, n);
        lost += *state == FRAME_BEGUN || (*state == FRAME_AWAITED && meant);
        *state = FRAME_AWAITED;
    }
    return lost;
}

int frame_loss_counter_packet(struct frame_loss_counter *c, uint32_t number, int reorder, int level)
{
    int apart = reorder < 0 ? -reorder : reorder;
    if (!ladder_has_level(c->ladder, level) || apart > FRAME_LOSS_COUNTER_MAX_REACH)
        return 0;
    int64_t n = c->newest < 0 ? number : seq32_extend(c->newest, number);
    int64_t slot = n + reorder, ahead = slot - c->newest;
    bool anew =
        c->newest < 0 || ahead > FRAME_LOSS_COUNTER_MAX_GAP || ahead < -FRAME_LOSS_COUNTER_MAX_GAP;
    if (n < 0 || slot < 0 || (!anew && ahead <= 0))
        return 0;
    if (anew) {
        frame_loss_counter_restart(c);
        c->settled = slot;
        c->level = level;
    }
    c->reach = apart > c->reach ? apart : c->reach;
    int lost = settle(c, slot - c->reach, level);
    if (n >= c->settled && *state_of(c, n) == FRAME_AWAITED)
        *state_of(c, n) = FRAME_BEGUN;
    c->newest = slot;
    c->level = level;
    return lost;
}

bool frame_loss_counter_whole(struct frame_loss_counter *c, int64_t number)
{
    if (c->newest < 0 || number < c->settled || number > c->newest + c->reach ||
        *state_of(c, number) != FRAME_BEGUN)
        return false;
    *state_of(c, number) = FRAME_WHOLE;
    return true;
}
