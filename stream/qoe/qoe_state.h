// SPDX-License-Identifier: GPL-2.0-or-later
// What the files qoe*.c of the figures share; nobody else includes it. qoe.c: the events;
// qoe_read.c: the figures made of them.
#ifndef WEIR_STREAM_QOE_QOE_STATE_H
#define WEIR_STREAM_QOE_QOE_STATE_H

#include <math.h>

#include "common/base/hist.h"
#include "stream/qoe/active_time.h"
#include "stream/qoe/frame_jitter.h"
#include "stream/qoe/freeze_account.h"
#include "stream/qoe/level_time.h"
#include "stream/qoe/qoe.h"
#include "stream/qoe/speed_meter.h"
#include "stream/qoe/stall_account.h"

#ifdef __cplusplus
extern "C" {
#endif

struct qoe_counts {
    double sender_skipped;
    struct frame_totals totals;
    struct qoe_receiver receiver;
};

struct span { // of time; count == 0: nothing happened
    uint64_t count;
    usec_t first;
    usec_t last;
};

struct qoe {
    usec_t started;
    usec_t started_wall;
    char url[QOE_MAX_TEXT];
    char transport[QOE_MAX_TEXT];
    char why[2 * QOE_MAX_TEXT];
    char source[QOE_MAX_TEXT];
    char error[QOE_MAX_TEXT];
    bool has_error;
    bool has_ended;
    enum qoe_ended ended;
    usec_t ended_at;
    bool frames;
    struct ladder ladder;

    usec_t connected; // QOE_UNKNOWN
    usec_t playing;   // QOE_UNKNOWN
    struct span shown;
    usec_t wall_since; // by `pauses`, at the first picture
    double media;      // seconds
    uint64_t frames_received;
    uint64_t frames_lost;
    uint64_t frames_late;
    uint64_t frames_undecodable;
    uint64_t frames_skipped;
    double sender_skipped;
    struct frame_totals totals;
    uint64_t reconnects;
    struct qoe_counts before; // of the connections before this one

    struct speed_meter speed; // by `pauses`
    uint64_t skips;
    bool has_budget;
    struct qoe_budget budget;

    struct active_time pauses;

    uint64_t seeks;
    struct hist seek_wait;

    struct stall_account stalls;
    struct freeze_account freezes;
    bool live_ended; // a connection, while its media was live
    struct qoe_media_edge live_end;
    usec_t live_end_active; // its `shown`, by `pauses`
    usec_t newest_active;   // the last picture's time, likewise
    uint64_t outage_frames;
    uint64_t switches;
    struct qoe_switch_entry switch_list[QOE_MAX_LIST];

    struct level_time levels;

    struct frame_jitter jitter;
    struct hist protocol;
    uint64_t within_200;
    uint64_t within_500;
    struct hist frame;
    struct hist display;
    struct hist part_encoder;
    struct hist part_transport;
    struct hist spent_encoder; // of frames shown alone, as the parts below
    struct hist spent_transport;
    struct hist part_buffer;
    struct hist part_decoder;
    struct hist part_display;
    struct hist rtt;
    bool has_clock;
    struct qoe_clock clock;

    struct span packets;
    uint64_t packet_bytes;
    uint64_t good_bytes;
    bool has_receiver;
    struct qoe_receiver receiver;
    double capacity;
    uint64_t compared;
    uint64_t pictures_skipped;
    double mse_sum;
    double ssim_sum;
    bool has_audio;
    struct qoe_audio audio;
    bool has_cpu;
    struct qoe_cpu cpu;
};

// Seconds of the session; NaN: QOE_UNKNOWN.
static inline double qoe_since_start(const struct qoe *q, usec_t at)
{
    return at == QOE_UNKNOWN ? NAN : usec_to_sec(at - q->started);
}

#ifdef __cplusplus
}
#endif
#endif
