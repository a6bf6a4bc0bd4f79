// SPDX-License-Identifier: GPL-2.0-or-later
// A queue and its server. Constant rates and schedules: a packet takes (bytes + overhead) * 8 /
// rate, exactly over time (fractions of a microsecond are carried over, never lost), and leaves
// when its last bit is sent; when the rate changes, the rest of the packet in transmission is sent
// at the new rate. Traces: each opportunity delivers up to 1500 bytes, of several packets or a part
// of one (Winstein 2013, Netravali 2015: an opportunity that finds the queue empty is lost; the
// rest of an opportunity is lost when the queue runs empty).
#ifndef WEIR_LINK_BOTTLENECK_H
#define WEIR_LINK_BOTTLENECK_H

#include "common/base/decls.h"
#include "lab/link/node.h"
#include "lab/link/queue.h"
#include "lab/link/rate.h"

DECLS_BEGIN

struct bottleneck {
    struct node node;
    struct queue *queue; // owned
    uint32_t overhead;   // bytes that a packet costs in addition to its own
    usec_t start;        // time 0 of schedule and trace
    struct rate_schedule schedule;
    const struct trace *trace; // borrowed; NULL: the schedule applies
    struct packet *serving;    // the packet in transmission
    double bps;                // current rate; while idle: the rate at the last packet
    int64_t per_usec_e9;       // current rate in 1e-9 bit per microsecond; 0: nothing is served
    usec_t rate_until;         // when the schedule's next rate begins
    usec_t since;              // instant up to which `serving` is served
    int64_t bits_left_e9; // unserved work of `serving` at `since`, in 1e-9 bit; <= 0: done before
    uint64_t opportunity; // trace: number of the next opportunity, from the start
    uint32_t bytes_left;  // trace: unserved bytes of `serving`
};

// Takes ownership of the queue. Serves by either trace or schedule; `trace` must outlive the node.
void bottleneck_init(struct bottleneck *b, struct node *to, struct queue *queue,
                     const struct rate_schedule *schedule, const struct trace *trace,
                     uint32_t overhead, usec_t now);
// Sets a constant rate from now on, in place of the schedule. Not for traces. Rates are rounded to
// 1e-3 bit/s, and at most 1e12.
void bottleneck_set_rate(struct bottleneck *b, double bps, usec_t now);

DECLS_END
#endif
