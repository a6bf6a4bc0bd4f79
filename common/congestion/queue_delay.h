// SPDX-License-Identifier: GPL-2.0-or-later
// The delay that packets of a flow find in queues, from their one-way delays: arrival on the
// receiver's clock minus departure on the sender's.
//
//   queue delay of a packet = its one-way delay - base delay;  base delay = min one-way delay of
//   the last 30 to 60 s (RFC 6817, 4.2, keeps minutes; a shorter memory follows a new route and two
//   clocks that drift).
//   standing = min of the last 25 to 50 ms: a frame's packets that queue behind each other are no
//     standing queue, for the first of them did not wait;
//   tail = min of the last three packets: the end of a frame;
//   average (draft-ietf-ccwg-rfc8298bis-screamv2, 4.2.1.4): follows a smaller standing delay at
//     once, a larger one by QDELAY_AVG_G = 1/4 per min(VIRTUAL_RTT, SRTT).
//
// All in microseconds. Arrival times of RFC 8888 are multiples of 1/1024 s.
#ifndef WEIR_CONGESTION_QUEUE_DELAY_H
#define WEIR_CONGESTION_QUEUE_DELAY_H

#include "common/base/decls.h"
#include "common/base/windowed_min.h"

DECLS_BEGIN

enum { QUEUE_DELAY_TAIL = 3, QUEUE_DELAY_VIRTUAL_RTT = 25000 /* us */ };

struct queue_delay {
    struct windowed_min base;   // of one-way delays
    struct windowed_min recent; // of queue delays
    usec_t standing;
    usec_t last; // of the newest packet
    usec_t recent_tail[QUEUE_DELAY_TAIL];
    unsigned tail_next;
    usec_t peak, peak_before; // max of a packet in the present and the previous second
    usec_t peak_since;
    double average;
    usec_t average_at;
};

void queue_delay_init(struct queue_delay *q);
// A packet's one-way delay. Call for all packets of a report before queue_delay_arrived.
void queue_delay_base(struct queue_delay *q, usec_t one_way, usec_t now);
// The queue delay that a one-way delay stands for.
usec_t queue_delay_of(const struct queue_delay *q, usec_t one_way);
// The next packet arrived, in the order of sending. Returns its queue delay.
usec_t queue_delay_arrived(struct queue_delay *q, usec_t one_way, usec_t now);
// After the packets of a report: updates `standing` and `average`.
void queue_delay_update(struct queue_delay *q, usec_t srtt, usec_t now);
usec_t queue_delay_tail(const struct queue_delay *q);

DECLS_END
#endif
