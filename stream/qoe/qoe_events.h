// SPDX-License-Identifier: GPL-2.0-or-later
// The events that the quality of experience is computed from; qoe.h says which function takes each.
#ifndef WEIR_STREAM_QOE_QOE_EVENTS_H
#define WEIR_STREAM_QOE_QOE_EVENTS_H

#include <stddef.h>

#include "stream/qoe/qoe_figures.h"

#ifdef __cplusplus
extern "C" {
#endif

#define QOE_UNKNOWN INT64_MIN // a duration that could not be measured

struct qoe_setup {
    const char *transport;       // as negotiated, "minbuf:1,3"; copied
    const char *why;             // it was taken, of several; empty: there was no choice; copied
    const char *source;          // "test 1280x720@30"; copied
    const struct ladder *ladder; // copied
    bool frames;                 // false: packets alone; playback figures stay unmeasured
};

struct qoe_packet { // an RTP packet arrived
    size_t bytes;   // RTP header included
    usec_t latency; // protocol latency: the sender's write to our read; QOE_UNKNOWN
};

struct qoe_frame { // a frame became whole
    int64_t number;
    int level; // playout_level_at; -1 unknown
    size_t bytes;
    usec_t latency;   // capture (or media write) to its last packet's arrival; QOE_UNKNOWN, as are
                      // the parts:
    usec_t encoder;   // capture to its first packet's write
    usec_t transport; // first write to last arrival
};

struct qoe_shown { // a picture went on the screen
    int64_t number;
    int level;      // -1 unknown
    size_t bytes;   // of its frame
    usec_t latency; // capture to now; QOE_UNKNOWN, as are the parts:
    usec_t buffer;  // last arrival to hand-over for decoding
    usec_t decoder; // decoding took
    usec_t display; // decoded to shown
    usec_t encoder; // these two as they were when it came (qoe_frame)
    usec_t transport;
    usec_t interval;       // of the media, where it is longer than the level's
    bool gap_known;        // frames between the last picture and this one were not shown
    enum freeze_cause gap; // why most of them were not
};

enum qoe_not_shown {
    QOE_LOST,
    QOE_LATE,
    QOE_UNDECODABLE, // whole and in time, but the frame it depends on was not
    QOE_SKIPPED,     // whole, and left out to catch up
    QOE_NOT_SHOWN_KINDS
};

// An edge of the live media of one connection: the first frame that is accounted for, or the one
// after the last.
struct qoe_media_edge {
    usec_t captured; // by the sender's wall clock; QOE_UNKNOWN
    usec_t shown;    // when it was shown, or would have been
    int level;
};

struct qoe_budget {
    usec_t target; // capture to shown
    usec_t sender; // the age at which a frame may leave there
    usec_t buffer; // that the playout buffer adds to the best arrival
};

struct qoe_switch {
    int from; // -1: the first
    int to;
    const char *why; // "user", "network", or of goddard_reason_name: "capacity" "no-capacity"
                     // "loss" "rebuffer" "upscale" "probe"; static
};

struct qoe_transport { // once a second; NaN = unknown
    double rtt;        // seconds
    double rate;       // bit/s arriving, or allowed
    double loss;       // fraction of packets over the last second
    double queue;      // seconds: one-way delay above the least seen
    double cwnd;       // packets
};

struct qoe_receiver { // counts since the start; each snapshot replaces the last
    uint64_t expected;
    uint64_t lost;
    uint64_t reordered;
    uint64_t loss_events;
    int64_t ecn_marked; // -1: not known on this transport
};

struct qoe_clock {
    bool shared;         // one machine's clock at both ends
    usec_t offset_error; // otherwise: bound of the estimate's error
};

struct qoe_cpu {
    double user;    // seconds
    double system;  // seconds
    double max_rss; // bytes
};

#ifdef __cplusplus
}
#endif
#endif
