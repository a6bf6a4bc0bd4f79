// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/repairs.h"

void repairs_init(struct repairs *r)
{
    for (int i = 0; i < REPAIRS_KEPT; i++)
        r->given[i].number = (uint16_t)(i + 1);
}

bool repairs_take(struct repairs *r, int64_t number, uint16_t seq, uint16_t next)
{
    int i = (int)(number & (REPAIRS_KEPT - 1));
    if (r->given[i].number == (uint16_t)number && (int16_t)(seq - r->given[i].next) < 0)
        return false;
    r->given[i].number = (uint16_t)number;
    r->given[i].next = next;
    return true;
}
