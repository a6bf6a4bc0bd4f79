// SPDX-License-Identifier: GPL-2.0-or-later
// Frames received, shown and not shown, duration of the shown media, and playing speed: the group
// `playback` of the report. Times are in active time (active_time.h) unless stated otherwise. Pure.
#ifndef WEIR_STREAM_QOE_QOE_PLAYBACK_H
#define WEIR_STREAM_QOE_QOE_PLAYBACK_H

#include "common/base/decls.h"
#include "stream/qoe/active_time.h"
#include "stream/qoe/qoe_events.h"
#include "stream/qoe/speed_meter.h"

DECLS_BEGIN

struct qoe_playback {
    // The owner counts these.
    uint64_t received;
    uint64_t not_shown[QOE_NOT_SHOWN_KINDS];
    uint64_t skips;           // jumps to a later frame
    struct speed_meter speed; // in active time
    // qoe_playback.c alone writes these.
    uint64_t shown;
    usec_t first_shown, last_shown;   // by the clock of `now`
    usec_t first_active, last_active; // the same two, in active time
    double media;                     // seconds
    double sender_skipped;            // NaN: not known
    double sender_skipped_before;     // total of the previous connections
};

void qoe_playback_init(struct qoe_playback *p);
void qoe_playback_reconnect(struct qoe_playback *p); // the sender's counters restart at 0
// `fps`: frame rate of the picture's level; 0: unknown.
void qoe_playback_shown(struct qoe_playback *p, double fps, const struct active_time *pauses,
                        usec_t now);
// `total`: frames that the sender has skipped so far.
void qoe_playback_sender_skipped(struct qoe_playback *p, uint64_t total);
// Seconds from the first picture to `now`; NaN: none was shown.
double qoe_playback_wall(const struct qoe_playback *p, const struct active_time *pauses,
                         usec_t now);
// Writes the group except `encoded_frame_rate`.
void qoe_playback_read(const struct qoe_playback *p, struct qoe_json *out,
                       const struct active_time *pauses, usec_t now);

DECLS_END
#endif
