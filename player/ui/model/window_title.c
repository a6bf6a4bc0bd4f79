// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/window_title.h"

#include <math.h>
#include <stdio.h>

static const char *state_text(const struct window_title *s)
{
    if (s->paused)
        return ", paused";
    switch (s->mode) {
    case PLAYOUT_BUFFERING:
        return ", buffering";
    case PLAYOUT_REBUFFERING:
        return ", stalled";
    case PLAYOUT_ENDED:
        return s->connects ? ", connecting" : ", ended";
    case PLAYOUT_PLAYING:
        break;
    }
    return "";
}

void window_title_text(const struct window_title *s, char *out, size_t cap)
{
    char speed[32] = "";
    if (fabs(s->speed - 1) >= 0.005 && s->mode == PLAYOUT_PLAYING && !s->paused)
        snprintf(speed, sizeof(speed), ", speed %.2f", s->speed);
    snprintf(out, cap, "%.160s%s%s - weir-play", s->name, speed, state_text(s));
}
