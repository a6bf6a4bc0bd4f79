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
    char level[64] = "";
    if (s->level >= 0) {
        const struct level *l = &s->ladder->levels[s->level];
        const struct size_spec *size = &s->ladder->sizes[l->size_id];
        snprintf(level, sizeof(level), "%dx%d@%.4g %.2f Mbit/s, ", size->width, size->height,
                 level_frame_rate(s->ladder, s->level), l->bitrate_bps / 1e6);
    }
    char speed[32] = "";
    if (fabs(s->speed - 1) >= 0.005 && s->mode == PLAYOUT_PLAYING && !s->paused)
        snprintf(speed, sizeof(speed), ", speed %.2f", s->speed);
    snprintf(out, cap, "weir-play: %s%s%s, buffer %.1f s%s%s", level, s->transport,
             s->stats ? s->stats : "", (double)s->buffered / 1e6, speed, state_text(s));
}
