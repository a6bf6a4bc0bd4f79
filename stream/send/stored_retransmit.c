// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/stored_retransmit.h"

void stored_retransmit_init(struct stored_retransmit *r)
{
    for (int i = 0; i < STORED_RETRANSMIT_KEPT; i++)
        r->given[i].number = (uint16_t)(i + 1);
}

bool stored_retransmit_take(struct stored_retransmit *r, int64_t number, uint16_t seq,
                            uint16_t next)
{
    int i = (int)(number & (STORED_RETRANSMIT_KEPT - 1));
    if (r->given[i].number == (uint16_t)number && (int16_t)(seq - r->given[i].next) < 0)
        return false;
    r->given[i].number = (uint16_t)number;
    r->given[i].next = next;
    return true;
}

void stored_retransmit_forget(struct stored_retransmit *r, int64_t number)
{
    r->given[number & (STORED_RETRANSMIT_KEPT - 1)].number = (uint16_t)(number + 1);
}
