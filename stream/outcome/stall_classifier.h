// SPDX-License-Identifier: GPL-2.0-or-later
// Why playing stalled, judged from the packets: when they arrived, when they were written, and
// whether any is missing.
//
// In this order:
//   outage     no packet for longer than `outage`, though some were written meanwhile or are
//              missing afterwards (until a packet comes, silence counts as an outage)
//   sender     no packet for that long, and none was written: the first one afterwards has the next
//              sequence number, was written as much later than the last as it came later, and had
//              not waited in the sender
//   network    the frame waited for has a gap in the sequence numbers
//   transport  packets were STALL_BEHIND or more behind: the time from capture to write (the
//              sender's queue, before a transport without room) and the one-way delay above the
//              least seen
//   sender     else, once packets came: they were fresh, there were too few
// A stall begins before all is known, so its end may give another cause than its begin.
//
// Delays are differences of differences: the clocks of the two ends need not agree. Pure.
#ifndef WEIR_STREAM_OUTCOME_STALL_CLASSIFIER_H
#define WEIR_STREAM_OUTCOME_STALL_CLASSIFIER_H

#include "common/base/usec.h"
#include "stream/outcome/cause.h"
#include "stream/outcome/loss_attribution.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STALL_BEHIND  (100 * USEC_PER_MSEC)
#define STALL_SILENCE (400 * USEC_PER_MSEC) // or three frames, if they are further apart
#define STALL_MEMORY  (2 * USEC_PER_SEC)    // a silence before the stall that explains it

struct stall_classifier {
    usec_t outage;
    bool started;
    int64_t last_seq;
    uint32_t last_written_us;
    usec_t last_arrived;
    int32_t least_delay_us; // arrival minus write, modulo 2^32
    usec_t waited;          // in the sender, of the last frame that told
    usec_t behind;          // of the last packet
    usec_t most_behind;     // since the stall began
    bool came;              // a packet, since the stall began
    bool was_silent;
    usec_t silence_ended;
    enum stall_cause silence_cause;
    enum stall_cause cause; // of the stall
};

// `interval`: of the frames, at the lowest level.
void stall_classifier_init(struct stall_classifier *w, usec_t interval);
// A packet with an ADU arrived for the first time.
void stall_classifier_packet(struct stall_classifier *w, const struct rtp_packet *p,
                             int64_t ext_seq, usec_t arrived);
// The user paused, or something else began: the time until the next packet is not judged.
void stall_classifier_forget(struct stall_classifier *w);
// `say`: of the frame waited for.
enum stall_cause stall_classifier_begin(struct stall_classifier *w, enum packets_say say,
                                        usec_t now);
enum stall_cause stall_classifier_end(struct stall_classifier *w, enum packets_say say, usec_t now);
usec_t stall_classifier_silence(const struct stall_classifier *w, usec_t now); // -1: no packet yet

#ifdef __cplusplus
}
#endif
#endif
