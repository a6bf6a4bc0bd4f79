// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/relayed_audio.h"

#include <string.h>

#include "proxy/feed/access_leg.h"
#include "server/policy/number_shift.h"

// A film's audio arrives before its time. Until then it may wait for the pictures; that it was late
// in the backbone does not shorten how long it may wait for the access.
struct coded_audio *relayed_audio_new(const struct upstream *u, const struct received_audio *a,
                                      int64_t shift, struct fps fps, usec_t now)
{
    struct coded_audio *c = a->bytes <= sizeof(c->data) ? coded_audio_new() : NULL;
    if (!c)
        return NULL;
    usec_t captured = access_leg_captured(u, a->capture_wall, a->arrived, now);
    c->position = a->position + audio_samples(number_shift_media(shift, fps));
    c->captured = usec_max(captured, a->arrived);
    c->capture_wall = a->capture_wall;
    c->bytes = a->bytes;
    memcpy(c->data, a->data, a->bytes);
    return c;
}
