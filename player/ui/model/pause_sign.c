// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/pause_sign.h"

void pause_sign_init(struct pause_sign *s)
{
    *s = (struct pause_sign){.since = USEC_NEVER};
}

void pause_sign_set(struct pause_sign *s, bool paused, usec_t now)
{
    if (paused != s->paused)
        *s = (struct pause_sign){paused, now};
}

double pause_sign_opacity(const struct pause_sign *s, usec_t now)
{
    if (s->since == USEC_NEVER || now < s->since)
        return 0;
    usec_t fading = now - s->since - PAUSE_SIGN_STANDS;
    if (fading <= 0)
        return 1;
    return fading < PAUSE_SIGN_FADES ? 1 - (double)fading / PAUSE_SIGN_FADES : 0;
}
