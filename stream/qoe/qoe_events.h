// SPDX-License-Identifier: GPL-2.0-or-later
// The events from which the quality of experience is computed; qoe.h has the function for each.
#ifndef WEIR_STREAM_QOE_QOE_EVENTS_H
#define WEIR_STREAM_QOE_QOE_EVENTS_H

#include <stddef.h>

#include "common/base/decls.h"
#include "stream/qoe/qoe_figures.h"

DECLS_BEGIN

#define QOE_UNKNOWN INT64_MIN // a duration that could not be measured

struct qoe_setup {
    const char *transport;       // negotiated transport, e.g. "minbuf:1,3"; copied
    const char *why;             // reason for choosing this transport; empty: there was no choice;
                                 // copied
    const char *source;          // "test 1280x720@30"; copied
    const char *via;             // proxies on the way; empty: none; copied
    const struct ladder *ladder; // copied
    bool frames;                 // false: packets without frames; playback figures are not measured
};

struct qoe_packet { // an RTP packet arrived
    size_t bytes;   // bytes, RTP header included
    usec_t latency; // protocol latency: from the sender's write to our read; or QOE_UNKNOWN
};

struct qoe_frame { // a frame became whole
    int64_t number;
    int level; // from playout_level_at; -1: unknown
    size_t bytes;
    usec_t latency;   // capture (or media write) to arrival of the last packet; or QOE_UNKNOWN,
                      // like its parts:
    usec_t encoder;   // capture to write of the first packet
    usec_t transport; // write of the first packet to arrival of the last
};

struct qoe_picture_layers { // a picture of several layers left playout
    int64_t number;
    int valid;    // layers that can be decoded: whole, in time, and so are those below; 0: none
    size_t bytes; // of these
};

struct qoe_shown { // a picture was shown on the screen
    int64_t number;
    int level;      // -1: unknown
    size_t bytes;   // bytes of its frame
    usec_t latency; // capture to now; or QOE_UNKNOWN, like its parts:
    usec_t buffer;  // arrival of the last packet to start of decoding
    usec_t decoder; // duration of decoding
    usec_t display; // decoded to shown
    usec_t encoder; // `encoder` and `transport`: as in qoe_frame
    usec_t transport;
    usec_t interval;       // frame interval of the media, if longer than the level's
    usec_t early;          // it was shown so long before it is due (playout_early)
    bool gap_known;        // frames between the last picture and this one were not shown
    enum freeze_cause gap; // cause of most of them
};

enum qoe_not_shown {
    QOE_LOST,
    QOE_LATE,
    QOE_UNDECODABLE, // whole and in time, but the frame it depends on was not
    QOE_SKIPPED,     // whole, but skipped to reduce latency
    QOE_NOT_SHOWN_KINDS
};

// An edge of the live media of one connection: the first frame that is counted, or the frame after
// the last one.
struct qoe_media_edge {
    usec_t captured; // capture time by the sender's wall clock; or QOE_UNKNOWN
    usec_t shown;    // time at which it was shown, or would have been
    int level;
};

struct qoe_budget {
    usec_t target;    // target latency from capture to display
    usec_t sender;    // max age of a frame when it leaves the sender
    usec_t buffer;    // delay that the playout buffer adds to the earliest arrival
    const char *mode; // static: "auto", "fixed", "start" or "low"; NULL: not known
    bool told;        // it differs from the last one that was told
};

struct qoe_decision {   // of the policy of a film's levels
    const char *policy; // static, as is the next one
    const char *why;    // of abr_reason_name
    int level;
    usec_t buffered;
    usec_t target;       // of the buffer
    double estimate_bps; // of the path; NaN: not known
    double error;        // relative, of the estimate
    double speed;        // requested, as a multiple of real time
};

struct qoe_switch {
    int from; // previous level; -1: none
    int to;
    const char *why; // "user", "network", of abr_reason_name, or of goddard_reason_name:
                     // "capacity" "no-capacity" "loss" "rebuffer" "upscale" "probe"; static
};

struct qoe_transport { // once a second; NaN = unknown
    double rtt;        // seconds
    double rate;       // bit/s that arrives, or that is allowed
    double loss;       // fraction of packets over the last second
    double queue;      // seconds: one-way delay above the smallest one seen
    double cwnd;       // packets
};

struct qoe_receiver { // counts since the start; each snapshot replaces the last
    uint64_t expected;
    uint64_t lost;
    uint64_t reordered;
    uint64_t loss_events;
    int64_t ecn_marked;   // -1: not known on this transport
    int64_t second_bytes; // of RTP, over the viewer's second network; -1: there is none
};

// What repair did, since the start; each snapshot replaces the last.
struct qoe_repair {
    uint64_t resent;      // packets that were sent again and filled a hole
    uint64_t duplicated;  // packets that came more than once
    uint64_t fec_packets; // of parity
    uint64_t fec_recovered;
    int64_t invalidations; // frames that the encoder was told to do without; -1: not known
    uint64_t repair_bytes; // of copies and parity
    uint64_t media_bytes;
};

struct qoe_clock {
    bool shared;         // one machine's clock at both ends
    usec_t offset_error; // if not shared: bound of the estimate's error
};

struct qoe_cpu {
    double user;    // seconds
    double system;  // seconds
    double max_rss; // bytes
};

DECLS_END
#endif
