// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/key_requests.h"

void key_requests_begin(struct key_requests *k, usec_t now)
{
    k->asked = true;
    k->asked_at = now;
}

void key_requests_want(struct key_requests *k, bool repeats)
{
    k->wanted = true;
    k->repeats |= repeats;
}

void key_requests_came(struct key_requests *k)
{
    k->wanted = k->repeats = k->asked = false;
}

usec_t key_requests_next(const struct key_requests *k)
{
    if (!k->wanted)
        return USEC_NEVER;
    if (!k->asked_at)
        return 0;
    return k->asked_at + (k->asked ? KEY_REQUESTS_AGAIN : KEY_REQUESTS_MERGE);
}

bool key_requests_due(struct key_requests *k, usec_t now)
{
    if (now < key_requests_next(k))
        return false;
    k->wanted = k->asked = k->repeats;
    k->asked_at = now;
    return true;
}

bool key_budget_take(struct key_budget *b, bool alone, usec_t now)
{
    if (now < b->next_at)
        return false;
    bool anew = alone || now - b->next_at >= KEY_BUDGET_MAX;
    usec_t longer = usec_max(KEY_BUDGET_MIN, usec_min(2 * b->wait, KEY_BUDGET_MAX));
    b->wait = anew ? KEY_BUDGET_MIN : longer;
    b->next_at = now + b->wait;
    return true;
}
