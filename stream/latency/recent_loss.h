// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the path lost packets lately. A packet counts as lost when RECENT_LOSS_REORDER later ones
// have arrived without it (as in RFC 8985 and QUIC, RFC 9002, 6.1.1), whether or not it arrives
// after all, as it then was sent again. Pure.
//
// Losses count as frequent for RECENT_LOSS_MEMORY after RECENT_LOSS_EVENTS events within
// RECENT_LOSS_SPAN, and after a loss whose neighbours, from the packet before it to the one that
// showed it, had met no queue of RECENT_LOSS_QUEUE: then no full queue lost the packet, and such
// losses go on. An event is all losses within RECENT_LOSS_APART of its first. Random loss of 1 % at
// 1 Mbit/s is an event a second. A drop-tail queue that a TCP flow fills loses packets once each
// time that TCP's window reaches the queue's end, every 2 to 5 s, and more frequently while that
// flow starts: a loss is no event if its neighbours met a queue near the longest of the last
// RECENT_LOSS_WAY (RECENT_LOSS_PEAK of it, if that is RECENT_LOSS_QUEUE). RECENT_LOSS_QUEUE is what
// the packets of one frame queue behind each other on a path with little more than the media's
// rate.
//
// The queue that a packet met is its way, from written to arrived on clocks that need not agree,
// beyond the least way of the last RECENT_LOSS_WAY; packets that come out of order do not count, as
// a copy keeps its first time of writing. Where a shorter way is found later, there was a queue
// after all: a viewing may begin in one.
#ifndef WEIR_STREAM_LATENCY_RECENT_LOSS_H
#define WEIR_STREAM_LATENCY_RECENT_LOSS_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/windowed_min.h"

DECLS_BEGIN

enum { RECENT_LOSS_REORDER = 3, RECENT_LOSS_EVENTS = 3 };
#define RECENT_LOSS_MEMORY (15 * USEC_PER_SEC)
#define RECENT_LOSS_SPAN   (2 * USEC_PER_SEC)
#define RECENT_LOSS_APART  (200 * USEC_PER_MSEC)
#define RECENT_LOSS_QUEUE  (20 * USEC_PER_MSEC)
#define RECENT_LOSS_WAY    (10 * USEC_PER_SEC)
#define RECENT_LOSS_PEAK   0.6

struct recent_loss {                   // recent_loss.c alone reads and writes the fields
    int64_t highest;                   // extended sequence number; -1: none arrived
    uint64_t seen;                     // bit i: highest - i arrived
    usec_t lost_at;                    // USEC_NEVER: no packet was lost
    usec_t events[RECENT_LOSS_EVENTS]; // first losses of the last events, a ring
    uint64_t event_count;
    usec_t frequent_at;          // the last event that made losses frequent; USEC_NEVER: none
    struct windowed_min least;   // way
    struct windowed_min longest; // negated: the longest way
    usec_t ways[RECENT_LOSS_REORDER + 1]; // of the last packets, a ring; USEC_NEVER: not known
    unsigned way_next;
    usec_t clear_at;  // the last loss without a queue; USEC_NEVER: none
    usec_t clear_way; // the longest way of its neighbours
};

void recent_loss_init(struct recent_loss *l);
// `way`: of the packet; USEC_NEVER: not known.
void recent_loss_packet(struct recent_loss *l, int64_t ext_seq, usec_t way, usec_t now);
// Returns true if a packet was lost within `memory`.
bool recent_loss_read(const struct recent_loss *l, usec_t memory, usec_t now);
bool recent_loss_is_frequent(const struct recent_loss *l, usec_t now);

DECLS_END
#endif
