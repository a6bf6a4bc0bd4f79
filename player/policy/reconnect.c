// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/reconnect.h"

void reconnect_init(struct reconnect *r)
{
    *r = (struct reconnect){.played = USEC_NEVER};
}

static usec_t delay(int tries)
{
    usec_t d = RECONNECT_FIRST;
    while (--tries > 0 && d < RECONNECT_MOST)
        d *= 2;
    return usec_min(d, RECONNECT_MOST);
}

usec_t reconnect_lost(struct reconnect *r, usec_t now)
{
    if (r->played != USEC_NEVER && now - r->played >= RECONNECT_STEADY)
        r->tries = 0;
    r->played = USEC_NEVER;
    r->tries++;
    r->next = now + delay(r->tries);
    return r->next;
}

void reconnect_playing(struct reconnect *r, usec_t now)
{
    r->played = now;
}

void reconnect_idle(struct reconnect *r)
{
    r->played = USEC_NEVER;
}

usec_t reconnect_left(const struct reconnect *r, usec_t now)
{
    return usec_max(0, r->next - now);
}
