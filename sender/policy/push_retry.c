// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/push_retry.h"

void push_retry_init(struct push_retry *r)
{
    *r = (struct push_retry){.wait = PUSH_RETRY_FIRST, .recorded = USEC_NEVER};
}

void push_retry_recording(struct push_retry *r, usec_t now)
{
    r->recorded = now;
}

usec_t push_retry_ended(struct push_retry *r, usec_t now)
{
    if (r->recorded != USEC_NEVER && now - r->recorded >= PUSH_RETRY_STEADY)
        r->wait = PUSH_RETRY_FIRST;
    r->recorded = USEC_NEVER;
    usec_t due = now + r->wait;
    r->wait = usec_min(2 * r->wait, PUSH_RETRY_MAX);
    return due;
}
