// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/camera_retry.h"

void camera_retry_init(struct camera_retry *r)
{
    *r = (struct camera_retry){.away = USEC_NEVER};
}

usec_t camera_retry_came(struct camera_retry *r, usec_t now)
{
    usec_t away = r->away == USEC_NEVER ? 0 : now - r->away;
    *r = (struct camera_retry){.away = USEC_NEVER};
    return away;
}

usec_t camera_retry_ended(struct camera_retry *r, bool refuses_user, bool *slower, usec_t now)
{
    if (r->away == USEC_NEVER)
        r->away = now;
    bool hurries = now - r->away < CAMERA_RETRY_HURRIES;
    *slower = !hurries && !r->is_slow;
    r->is_slow = !hurries;
    return now + (refuses_user ? CAMERA_RETRY_REFUSED
                  : hurries    ? CAMERA_RETRY_SOON
                               : CAMERA_RETRY_LATER);
}
