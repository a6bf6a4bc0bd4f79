// SPDX-License-Identifier: GPL-2.0-or-later
// A queue and what serves it. Constant rates and schedules: a packet takes (bytes + overhead) * 8 /
// rate, exactly over time (fractions of a microsecond are carried over, never lost), and leaves
// when its last bit has; when the rate changes, what is left of the packet under way is sent at the
// new one. Traces: each opportunity delivers up to 1500 bytes, of several packets or a part of one
// (Winstein 2013, Netravali 2015: an opportunity that finds the queue empty is lost; what is left
// over of one when the queue runs empty is lost too).
#ifndef WEIR_LINK_BOTTLENECK_H
#define WEIR_LINK_BOTTLENECK_H

#include "lab/link/node.h"
#include "lab/link/queue.h"
#include "lab/link/rate.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bottleneck {
    struct node node;
    struct queue *queue; // owned
    uint32_t overhead;   // bytes a packet costs beyond its own
    usec_t start;        // time 0 of schedule and trace
    struct rate_schedule schedule;
    const struct trace *trace; // borrowed; NULL: the schedule serves
    struct packet *serving;    // under way
    double bps;                // in force; when idle: at the last packet
    int64_t per_usec_e9;       // the same in 1e-9 bit a microsecond; 0: stands still
    usec_t rate_until;         // when the schedule has its next rate
    usec_t since;              // up to where `serving` is served
    int64_t bits_left_e9;      // of `serving` at `since`, in 1e-9 bit; <= 0: done before
    uint64_t opportunity;      // trace: the next one, counted from the start
    uint32_t bytes_left;       // trace: of `serving`
};

// Takes the queue over. Either trace or schedule; `trace` outlives the node.
void bottleneck_init(struct bottleneck *b, struct node *to, struct queue *queue,
                     const struct rate_schedule *schedule, const struct trace *trace,
                     uint32_t overhead, usec_t now);
// A constant rate from now on, in place of the schedule. Not for traces. Rates are counted in 1e-3
// bit/s, and go up to 1e12.
void bottleneck_set_rate(struct bottleneck *b, double bps, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
