// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/loss_rounds.h"

void loss_rounds_init(struct loss_rounds *r)
{
    *r = (struct loss_rounds){.round = -1};
}

void loss_rounds_sent(struct loss_rounds *r, int64_t number, usec_t rtt, usec_t now)
{
    if (r->round >= 0 && (rtt == 0 || now - r->began < rtt))
        return;
    r->round++;
    r->first[r->round % LOSS_ROUNDS_KEPT] = number;
    r->began = now;
}

int64_t loss_rounds_of(const struct loss_rounds *r, int64_t number)
{
    int64_t round = r->round, oldest = r->round - LOSS_ROUNDS_KEPT + 1;
    while (round > oldest && round > 0 && r->first[round % LOSS_ROUNDS_KEPT] > number)
        round--;
    return round < 0 ? 0 : round;
}
