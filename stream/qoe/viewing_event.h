// SPDX-License-Identifier: GPL-2.0-or-later
// One event for each fact. The parts of a viewer emit each fact once, as a struct viewing_event.
// The QoE takes the event first; then the program's sink (trace, log, policy, or a simulator's
// output) gets it, with the fields that the QoE has set. Pure.
#ifndef WEIR_STREAM_QOE_VIEWING_EVENT_H
#define WEIR_STREAM_QOE_VIEWING_EVENT_H

#include "common/base/decls.h"
#include "stream/outcome/frame_history.h"
#include "stream/outcome/frame_outcomes.h"
#include "stream/qoe/qoe.h"

DECLS_BEGIN

enum viewing_kind {
    VIEWING_PACKET,     // `packet` of the media arrived
    VIEWING_FRAME,      // `frame` became whole
    VIEWING_LEVEL,      // frames of another `level` arrive
    VIEWING_LAYER,      // `layer`: a frame became whole that is a layer of a picture: any size of a
                        // cumulative ladder
    VIEWING_LAYERS,     // `layers`: a picture left playout with that many valid layers
    VIEWING_START,      // buffering is over
    VIEWING_SHOWN,      // `shown`: a picture was shown
    VIEWING_NOT_SHOWN,  // `lost`: a frame that was due is not shown; `end` says at which stage it
                        // was lost
    VIEWING_SKIPPED,    // `lost`: the viewer skipped a whole frame to reduce latency
    VIEWING_LEFT_OUT,   // `range`: the viewer skipped frames of the level
    VIEWING_LIVE_END,   // `edge`: the live media of one connection ends, or the sender stopped it
    VIEWING_LIVE_BEGIN, // `edge`: live media continues; `missed`: frames lost meanwhile
    VIEWING_MISSING,    // frames are missing since the last picture; `gap`: cause of most of them
    VIEWING_STALL_BEGIN, // `stall`
    VIEWING_STALL_END,   // `stall`: playing continues
    VIEWING_STALL_CUT,   // `stall`: the viewing ends within it
    VIEWING_PAUSE,       // the viewer paused
    VIEWING_RESUME,
    VIEWING_REBUFFER, // the buffered media is dropped: live media continues after a pause
    VIEWING_SEEK,     // the viewer sought to another position, which is being buffered
    VIEWING_TOTALS,   // `totals`: frame totals so far
    VIEWING_BUDGET,   // `budget`: the latency budget
    VIEWING_SPEED,    // `speed`: the playing speed
    VIEWING_SKIP,     // `media`: duration skipped to reduce latency
    VIEWING_SHORT,    // `latency`: the target cannot be kept
};

struct viewing_packet {
    struct qoe_packet figures;
    bool adu;             // the packet is an ADU of its own, with the following fields
    int64_t number;       // number of its frame
    int size_id;          // its size; of layered media, its layer
    usec_t captured;      // of the frame; by our clock, as the next two; or QOE_UNKNOWN
    usec_t written, read; // written by the sender, read by us; or QOE_UNKNOWN
};

struct viewing_layer {
    int64_t number;
    int size_id;
    size_t bytes;
};

struct viewing_shown {
    struct qoe_shown figures;
    usec_t at;                    // time at which the picture was on the screen
    struct frame_arrival arrival; // unknown if another frame has replaced the record
};

struct viewing_lost {
    struct not_shown why;
    enum frame_end end; // of VIEWING_NOT_SHOWN
    int level;          // level of the frame; -1 without levels
    struct frame_arrival arrival;
};

struct viewing_range {
    int64_t from, to; // frame numbers from `from` to `to` - 1
    uint64_t frames;
};

struct viewing_stall {
    enum stall_cause cause; // cause, as far as known now
    int64_t number;         // number of the awaited frame
    usec_t found;           // at the begin: time at which the empty buffer was detected, `at` or
                            // later
    usec_t silence;         // at the begin: time since the last packet; -1: none arrived
    usec_t stalled;         // at the end: duration without pauses
};

struct viewing_speed {
    double speed; // playing speed relative to the sender's
    bool told;    // differs by more than 1 % from the last reported speed, or is 1 again
};

struct viewing_latency {
    usec_t target, encoder, transport;
    usec_t buffer; // buffer that the jitter requires
};

struct viewing_event {
    enum viewing_kind kind;
    usec_t at; // not before the previous event's time, except for stalls, which are dated back
    // Set by viewing_emit:
    const struct qoe_freeze_entry *freeze; // the freeze that this event ends; NULL: none; valid
                                           // until the next event
    uint64_t missed;                       // VIEWING_LIVE_BEGIN: frames missed
    union {
        struct viewing_packet packet;
        struct qoe_frame frame;
        struct viewing_layer layer;
        struct qoe_picture_layers layers;
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
    struct qoe *qoe;                                            // borrowed; NULL: none
    void (*on_event)(void *ctx, const struct viewing_event *e); // NULL: no sink
    void *ctx;
};

void viewing_emit(const struct viewing_sink *s, struct viewing_event *e);

DECLS_END
#endif
