// SPDX-License-Identifier: GPL-2.0-or-later
// The queue before a bottleneck, and its choice of packets to drop or mark. One file per
// discipline: queue_fifo.c (drop-tail, drop-head), queue_red.c, queue_dred.c (DRED and DRD),
// queue_codel.c, queue_dualpi2.c. The packet in transmission is no longer in the queue. Every
// discipline has a hard limit in bytes or packets; an arriving packet that would exceed it is
// dropped (LINK_DROP_FULL; drop-head drops the oldest ones instead).
#ifndef WEIR_LINK_QUEUE_H
#define WEIR_LINK_QUEUE_H

#include "common/base/decls.h"
#include "common/base/rng.h"
#include "lab/link/packet.h"

DECLS_BEGIN

enum queue_kind {
    QUEUE_DROPTAIL,
    QUEUE_DROPHEAD,
    QUEUE_RED,
    QUEUE_DRED,
    QUEUE_DRD,
    QUEUE_CODEL,
    QUEUE_DUALPI2,
    QUEUE_KINDS
};

// A queue length in bytes or in packets, whichever is set (the other is 0); 0 and 0: no bound.
// Times in the text become bytes at the link's first rate.
struct queue_size {
    uint64_t bytes;
    uint64_t packets;
};

// One struct for all disciplines; each field names the ones that use it. link_spec.h fills in
// defaults.
struct queue_config {
    enum queue_kind kind;
    struct queue_size limit; // all disciplines; always set
    bool ecn;                // AQMs: mark ECT packets instead of dropping them
    struct queue_size mark;  // drop-tail, drop-head: mark ECT arrivals while the queue is longer (a
                             // step, as DCTCP's, RFC 8257 section 3.1). None: do not mark
    struct queue_size min;   // red, dred, drd: drdmin
    struct queue_size
        max;         // red, dred, drd: drdmax. dred: drops all packets beyond `limit` (drdcongest)
    double p_min;    // dred, drd: probability at min (0.1)
    double p_max;    // red: at max (0.1); dred, drd: at max (dred 1.0; drd 0.95)
    double weight;   // red: of the moving average (0.002)
    bool gentle;     // red: p rises from p_max at max to 1 at 2 max (Floyd 2000)
    usec_t target;   // codel 5 ms (RFC 8289); dualpi2 15 ms (RFC 9332)
    usec_t interval; // codel 100 ms; dualpi2: Tupdate, 15 ms
    double alpha, beta; // dualpi2: 0.15, 3 Hz
    double k;           // dualpi2: coupling factor 2
    usec_t step;        // dualpi2: the L4S queue's marking threshold, 1 ms
};

struct queue;

struct queue_ops {
    // Takes ownership of the packet: queues it, marks it, or drops it or others.
    void (*enqueue)(struct queue *q, struct packet *p, usec_t now);
    // Returns the next packet to transmit, with its queue_delay increased; may drop others. NULL:
    // empty.
    struct packet *(*dequeue)(struct queue *q, usec_t now);
    void (*free)(struct queue *q); // returns held packets to their pool
};

struct queue { // first member of each discipline
    const struct queue_ops *ops;
    struct queue_config config;
    struct dropper *dropper; // borrowed
    struct rng rng;
    double rate_bps; // set by the bottleneck at each change; used for RED's idle time. 0: nothing
                     // is sent
    uint64_t bytes;  // bytes in the queue now
    uint64_t packets;
};

// Returns NULL if there is no memory.
struct queue *queue_new(const struct queue_config *config, struct dropper *dropper, uint64_t seed);
// NULL is allowed.
void queue_free(struct queue *q);

// For the disciplines. Returns true if the queue with `extra` bytes and packets would exceed the
// size; false if there is no bound.
static inline bool queue_exceeds(const struct queue *q, struct queue_size s, uint32_t bytes,
                                 uint32_t packets)
{
    return (s.bytes && q->bytes + bytes > s.bytes) ||
           (s.packets && q->packets + packets > s.packets);
}

DECLS_END
#endif
