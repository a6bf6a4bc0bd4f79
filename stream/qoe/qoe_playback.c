// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/qoe_playback.h"

#include <math.h>

void qoe_playback_init(struct qoe_playback *p)
{
    *p = (struct qoe_playback){.sender_skipped = NAN};
}

void qoe_playback_reconnect(struct qoe_playback *p)
{
    if (!isnan(p->sender_skipped))
        p->sender_skipped_before = p->sender_skipped;
}

void qoe_playback_shown(struct qoe_playback *p, double fps, const struct active_time *pauses,
                        usec_t now)
{
    p->last_shown = now;
    p->last_active = active_time_read(pauses, now);
    if (p->shown++ == 0) {
        p->first_shown = p->last_shown;
        p->first_active = p->last_active;
    }
    if (fps > 0)
        p->media += 1 / fps;
}

void qoe_playback_sender_skipped(struct qoe_playback *p, uint64_t total)
{
    p->sender_skipped = p->sender_skipped_before + (double)total;
}

double qoe_playback_wall(const struct qoe_playback *p, const struct active_time *pauses, usec_t now)
{
    return p->shown > 0 ? active_time_seconds(pauses, p->first_active, now) : NAN;
}

void qoe_playback_read(const struct qoe_playback *p, struct qoe_json *out,
                       const struct active_time *pauses, usec_t now)
{
    out->playback.media = p->media;
    out->playback.wall = qoe_playback_wall(p, pauses, now);
    out->playback.frames_received = (double)p->received;
    out->playback.frames_played = (double)p->shown;
    out->playback.frames_lost = (double)p->not_shown[QOE_LOST];
    out->playback.frames_late = (double)p->not_shown[QOE_LATE];
    out->playback.frames_undecodable = (double)p->not_shown[QOE_UNDECODABLE];
    out->playback.frames_skipped = (double)p->not_shown[QOE_SKIPPED];
    out->playback.frames_skipped_by_sender = p->sender_skipped;
    out->playback.speed.mean = speed_meter_mean(&p->speed, active_time_read(pauses, now));
    out->playback.speed.min = speed_meter_least(&p->speed);
    out->playback.speed.max = speed_meter_most(&p->speed);
    out->playback.skips = (double)p->skips;
    out->playback.frame_rate = qoe_ratio((double)p->shown, out->playback.wall);
}
