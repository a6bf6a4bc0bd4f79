// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the cause of a stall from the packets: their arrival times, their write times, and gaps in
// their sequence numbers.
//
// The first condition that holds, in this order:
//   display    this machine did nothing, though it had to, for half of the stall or more: it was
//              stopped, or its processor was busy
//   outage     no packet arrived for longer than `outage`, although some were written meanwhile or
//              are missing afterwards (until a packet arrives, silence counts as an outage,
//              unless the sender's machine does not keep up)
//   sender     no packet arrived for that long, and none was written: the first packet afterwards
//              has the next sequence number, was written later by at least 3/4 of the silence, and
//              had not waited in the sender
//   network    the awaited frame has a gap in the sequence numbers
//   transport  packets were late by STALL_BEHIND or more: the time that they waited in the sender
//              plus the one-way delay above the smallest delay seen
//   sender     otherwise, if packets arrived: they were on time, but too few; or after a late frame
//
// A frame waits in the sender from its capture, or where the sender tells it (made_ext) from when
// it was made, until it is written. A late frame is one whose sender says that its machine does not
// keep up, or that was made later after its capture than another one, by STALL_BEHIND or more.
// At its begin the cause of a stall is not fully known, so the cause at its end may differ.
//
// Delays are differences of differences: the clocks of the two ends need not agree. Pure.
#ifndef WEIR_STREAM_OUTCOME_STALL_CLASSIFIER_H
#define WEIR_STREAM_OUTCOME_STALL_CLASSIFIER_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "stream/outcome/cause.h"
#include "stream/outcome/loss_attribution.h"

DECLS_BEGIN

#define STALL_BEHIND  (100 * USEC_PER_MSEC)
#define STALL_SILENCE (400 * USEC_PER_MSEC) // or three frame intervals, if that is longer
#define STALL_MEMORY  (2 * USEC_PER_SEC)    // a silence that ended no longer ago explains a stall

struct stall_classifier {
    usec_t outage;
    bool started;
    int64_t last_seq;
    uint32_t last_written_us;
    usec_t last_arrived;
    int32_t least_delay_us;       // arrival minus write, modulo 2^32
    usec_t waited;                // in the sender, of the last frame that carried its capture time
    bool has_made;                // such a frame told when it was made
    usec_t least_made;            // the least time from capture until then
    bool made_late;               // the last such frame was late
    bool is_slow;                 // it said that the machine of its sender does not keep up
    usec_t behind;                // delay of the last packet above the smallest delay
    usec_t most_behind;           // largest `behind` since the stall began
    usec_t late_from, late_until; // the last time in which this machine came late
    usec_t stalled_at;            // when the stall began
    usec_t late;                  // how long this machine did nothing since then
    bool came;                    // a packet arrived since the stall began
    bool was_silent;
    usec_t silence_ended;
    enum stall_cause silence_cause;
    enum stall_cause cause; // cause of the stall
};

// `interval`: frame interval of the lowest level.
void stall_classifier_init(struct stall_classifier *w, usec_t interval);
// A packet with an ADU arrived for the first time.
void stall_classifier_packet(struct stall_classifier *w, const struct rtp_packet *p,
                             int64_t ext_seq, usec_t arrived);
// The user paused, or other media follows: the time until the next packet is ignored.
void stall_classifier_forget(struct stall_classifier *w);
// This machine had work to do at `from`, and came to it at `now` (lateness.h).
void stall_classifier_late(struct stall_classifier *w, usec_t from, usec_t now);
// `say`: what the packets say of the awaited frame. The stall began at `at` <= now.
enum stall_cause stall_classifier_begin(struct stall_classifier *w, enum packets_say say, usec_t at,
                                        usec_t now);
enum stall_cause stall_classifier_end(struct stall_classifier *w, enum packets_say say, usec_t now);
// Returns the time since the last packet; -1: no packet yet.
usec_t stall_classifier_silence(const struct stall_classifier *w, usec_t now);

DECLS_END
#endif
