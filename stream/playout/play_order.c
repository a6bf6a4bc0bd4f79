// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/play_order.h"

#include <string.h>

void play_order_init(struct play_order *o, const struct level_schedule *levels)
{
    *o = (struct play_order){.levels = levels, .next = -1};
}

void play_order_start(struct play_order *o, int64_t next)
{
    o->next = next;
    o->ahead_count = 0;
}

void play_order_pass_to(struct play_order *o, int64_t next)
{
    o->next = next;
}

bool play_order_is_ahead(const struct play_order *o, int64_t number)
{
    for (int i = 0; i < o->ahead_count; i++)
        if (o->ahead[i] == number)
            return true;
    return false;
}

int64_t play_order_awaited(const struct play_order *o)
{
    if (o->next < 0)
        return -1;
    int64_t n = level_schedule_next(o->levels, o->next);
    while (play_order_is_ahead(o, n))
        n = level_schedule_next(o->levels, n + 1);
    return n;
}

// Nothing below the first frame that went ahead is awaited any more.
static void pass_first_ahead(struct play_order *o)
{
    o->next = o->ahead[0] + 1 > o->next ? o->ahead[0] + 1 : o->next;
    o->ahead_count--;
    memmove(&o->ahead[0], &o->ahead[1], (size_t)o->ahead_count * sizeof(o->ahead[0]));
}

bool play_order_handed(struct play_order *o, int64_t number)
{
    bool in_turn = number <= play_order_awaited(o);
    if (!in_turn) {
        if (o->ahead_count == PLAY_ORDER_AHEAD)
            pass_first_ahead(o);
        int i = o->ahead_count++;
        for (; i > 0 && o->ahead[i - 1] > number; i--)
            o->ahead[i] = o->ahead[i - 1];
        o->ahead[i] = number;
    } else if (number >= o->next) {
        o->next = number + 1;
    }
    while (o->ahead_count > 0 && o->ahead[0] <= level_schedule_next(o->levels, o->next))
        pass_first_ahead(o);
    return in_turn;
}
