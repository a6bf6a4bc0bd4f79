// SPDX-License-Identifier: GPL-2.0-or-later
// The viewing half of a simulated session: weir-play's own receiver of frames (frame_receiver.h),
// video pipeline (video_pipeline.h), requests of lost packets (repair_receiver.h) and policy:
// Goddard's, or a film's (abr_viewer.h). There are no pictures, so nothing is decoded, and no key
// frame is requested.
#ifndef WEIR_SIM_STREAM_VIEWER_H
#define WEIR_SIM_STREAM_VIEWER_H

#include "common/base/decls.h"
#include "lab/sim/stream_control.h"
#include "lab/sim/stream_parts.h"
#include "stream/abr/abr_viewer.h"
#include "stream/goddard/goddard_inputs.h"
#include "stream/receive/frame_receiver.h"
#include "stream/receive/rtcp_exchange.h"
#include "stream/video/video_pipeline.h"

DECLS_BEGIN

// `value` and `number` of each in brackets.
enum stream_event_kind {
    STREAM_EVENT_LEVEL,    // asked for [level; from], `text`: why
    STREAM_EVENT_CAPACITY, // of the path [bit/s; us of media that told it, 0: a pair did]; of a
                           // film, that of a decision [bit/s; its group], `text`: why
    STREAM_EVENT_START,    // playing begins [0; 0]
    STREAM_EVENT_FRAME,    // became whole [jitter, ms, or NaN; its level]
    STREAM_EVENT_LOST,     // playout passed it over [0; frame number]
    STREAM_EVENT_STALL,    // playing stopped [0; 0]
    STREAM_EVENT_RESUME,   // after so long [s; 0]
    STREAM_EVENT_SECOND,   // each second: media held [s; bytes that arrived so far]
    STREAM_EVENT_END,      // everything was shown [0; 0]
};

struct stream_event {
    uint32_t flow;
    enum stream_event_kind kind;
    double value;
    int64_t number;
    const char *text; // static; NULL: none
};

struct stream_viewer_config {
    const struct ladder *ladder; // borrowed
    struct goddard_params params;
    int level;     // requested throughout, without a policy; -1: the policy chooses
    usec_t film;   // the policy is auto, and this its buffer; 0: Goddard's
    usec_t length; // of a film
    bool measures; // the transport follows the network
    bool loses_frames;
    bool by_media;         // no pair of packets passes: the first media tells the capacity
    bool repairs;          // lost packets are requested and recovered
    bool in_part;          // frames that came in part count as whole (stream_parts.h)
    const char *transport; // for the report; borrowed
    const char *source;    // for the report; borrowed
    // The policy requests `wish`, which is borrowed for the call.
    void (*ask)(void *ctx, const struct stream_wish *wish, usec_t now);
    // A compound with NACKs is to be sent; with `repairs`.
    void (*send_rtcp)(void *ctx, const uint8_t *data, size_t len, usec_t now);
    void (*event)(void *ctx, struct stream_event *e, usec_t now);
    int64_t (*ecn_marked)(
        void *ctx); // media packets that the network marked so far; -1, or NULL: not
    // known
    void *ctx;
};

struct stream_viewer {
    struct stream_viewer_config config;
    struct frame_receiver *receiver; // owned, as are these
    struct repair_receiver *repair;  // NULL: lost packets stay lost
    struct video_pipeline *pipeline; // NULL before the first level
    struct qoe *qoe;
    struct clock_sync clock;
    struct rtcp_exchange rtcp;
    struct stream_parts parts;
    struct goddard_inputs feed;
    struct abr_viewer *film; // owned; NULL: the policy is Goddard's, or there is none
    usec_t film_at;          // when it is run next
    struct stream_wish wish;
    int64_t whole; // the last whole frame; -1: none
    usec_t whole_at;
    uint64_t bytes;
    usec_t second_at;
    bool ended;
};

// 0; ERR_NO_MEMORY.
int stream_viewer_init(struct stream_viewer *v, const struct stream_viewer_config *config,
                       usec_t now);
void stream_viewer_destroy(struct stream_viewer *v);
// The session begins.
void stream_viewer_start(struct stream_viewer *v, usec_t now);
void stream_viewer_rtp(struct stream_viewer *v, const uint8_t *data, size_t len, usec_t now);
// A request was answered so long after it was made.
void stream_viewer_answered(struct stream_viewer *v, usec_t rtt, usec_t now);
// A packet of a pair came: which pair, and is it the second?
void stream_viewer_pair(struct stream_viewer *v, uint32_t number, bool second, size_t bytes,
                        usec_t now);
void stream_viewer_media_end(struct stream_viewer *v, usec_t now); // no more frames come
void stream_viewer_run(struct stream_viewer *v, usec_t now);
usec_t stream_viewer_next(const struct stream_viewer *v);

DECLS_END
#endif
