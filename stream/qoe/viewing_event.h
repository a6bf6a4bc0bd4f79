// SPDX-License-Identifier: GPL-2.0-or-later
// One event a fact. The parts of a viewer emit what happened once, as a struct viewing_event; the
// QoE is computed from the event first, then the event goes to the sink of the program (its trace,
// its log, its policy, or the lines of a simulator) with what the QoE made of it. Pure.
#ifndef WEIR_STREAM_QOE_VIEWING_EVENT_H
#define WEIR_STREAM_QOE_VIEWING_EVENT_H

#include "stream/outcome/frame_history.h"
#include "stream/outcome/frame_outcomes.h"
#include "stream/qoe/qoe.h"

#ifdef __cplusplus
extern "C" {
#endif

enum viewing_kind {
    VIEWING_PACKET,      // `packet` of the media arrived
    VIEWING_FRAME,       // `frame` became whole
    VIEWING_LEVEL,       // frames of another `level` arrive
    VIEWING_START,       // buffering is over
    VIEWING_SHOWN,       // `shown`
    VIEWING_NOT_SHOWN,   // `lost`: a frame that was due is not shown, `end` says where it ended
    VIEWING_SKIPPED,     // `lost`: the viewer left out a whole frame to catch up
    VIEWING_LEFT_OUT,    // `range`: the viewer left out frames that the level has
    VIEWING_LIVE_END,    // `edge`: the live media of one connection, or up to a stop of the sender
    VIEWING_LIVE_BEGIN,  // `edge`: live media continues; `missed`: frames lost meanwhile
    VIEWING_MISSING,     // frames are missing since the last picture, most of them for `gap`
    VIEWING_STALL_BEGIN, // `stall`
    VIEWING_STALL_END,   // `stall`: playing continues
    VIEWING_STALL_CUT,   // `stall`: the viewing ends within it
    VIEWING_PAUSE,       // by the viewer
    VIEWING_RESUME,
    VIEWING_REBUFFER, // the buffered media is dropped: live media continues after a pause
    VIEWING_SEEK,     // the viewer went to another place of the media, which is buffered
    VIEWING_TOTALS,   // `totals` of frames so far
    VIEWING_BUDGET,   // `budget` of the latency
    VIEWING_SPEED,    // `speed` of playing
    VIEWING_SKIP,     // `media` is skipped to catch up
    VIEWING_SHORT,    // `latency`: the target cannot be kept
};

struct viewing_packet {
    struct qoe_packet figures;
    bool adu;             // it is an ADU of its own, with what follows
    int64_t number;       // of its frame
    usec_t written, read; // by the sender and by us, our clock; QOE_UNKNOWN
};

struct viewing_shown {
    struct qoe_shown figures;
    usec_t at;                    // on the screen
    struct frame_arrival arrival; // not known: the record was taken by another frame
};

struct viewing_lost {
    struct not_shown why;
    enum frame_end end; // of VIEWING_NOT_SHOWN
    int level;          // that the frame is of; -1 without levels
    struct frame_arrival arrival;
};

struct viewing_range {
    int64_t from, to; // from `from` to before `to`
    uint64_t frames;
};

struct viewing_stall {
    enum stall_cause cause; // as far as it is known now
    int64_t number;         // of the frame awaited
    usec_t found;           // at the begin: when the buffer was found empty, `at` or later
    usec_t silence;         // at the begin: since the last packet; -1: none arrived
    usec_t stalled;         // at the end: how long, pauses not counted
};

struct viewing_speed {
    double speed; // against the sender's
    bool told;    // differs by more than 1 % from the speed told last, or is 1 again
};

struct viewing_latency {
    usec_t target, encoder, transport;
    usec_t buffer; // that the jitter demands
};

struct viewing_event {
    enum viewing_kind kind;
    usec_t at; // never before an earlier event's, but of stalls, which are dated back
    // Set by viewing_emit:
    const struct qoe_freeze_entry *freeze; // that this event ends; NULL: none. Until the next event
    uint64_t missed;                       // of VIEWING_LIVE_BEGIN: frames
    union {
        struct viewing_packet packet;
        struct qoe_frame frame;
        int level;
        struct viewing_shown shown;
        struct viewing_lost lost;
        struct viewing_range range;
        struct qoe_media_edge edge;
        enum freeze_cause gap;
        struct viewing_stall stall;
        const struct frame_totals *totals; // borrowed
        struct qoe_budget budget;
        struct viewing_speed speed;
        usec_t media;
        struct viewing_latency latency;
    };
};

struct viewing_sink {
    struct qoe *qoe;                                            // borrowed
    void (*on_event)(void *ctx, const struct viewing_event *e); // NULL: no sink
    void *ctx;
};

void viewing_emit(const struct viewing_sink *s, struct viewing_event *e);

#ifdef __cplusplus
}
#endif
#endif
