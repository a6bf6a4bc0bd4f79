// SPDX-License-Identifier: GPL-2.0-or-later
// What waits before a bottleneck, and who is dropped or marked. One file a discipline: queue_fifo.c
// (drop-tail, drop-head), queue_red.c, queue_dred.c (DRED and DRD), queue_codel.c, queue_dualpi2.c.
// The packet in transmission is no longer in the queue. Every discipline has a hard limit in bytes
// or packets; an arriving packet that would exceed it is dropped (LINK_DROP_FULL; drop-head: the
// oldest are).
#ifndef WEIR_LINK_QUEUE_H
#define WEIR_LINK_QUEUE_H

#include "common/base/rng.h"
#include "lab/link/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

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

// A length of queue: in bytes or in packets, whichever is set (the other is 0); 0 and 0: no bound
// of this kind. Text gives times, too: they become bytes at the link's first rate.
struct queue_size {
    uint64_t bytes;
    uint64_t packets;
};

// One struct for all; each field says whose it is. link_spec.h fills in defaults.
struct queue_config {
    enum queue_kind kind;
    struct queue_size limit; // all; never none
    bool ecn;                // AQMs: mark ECT packets where others would be dropped
    struct queue_size mark;  // drop-tail, drop-head: mark ECT arrivals while the queue is longer (a
                             // step, as DCTCP's, RFC 8257 section 3.1). None: do not mark
    struct queue_size min;   // red, dred, drd: drdmin
    struct queue_size
        max;      // red, dred, drd: drdmax. dred: everything is dropped beyond `limit` (drdcongest)
    double p_min; // dred, drd: probability at min (0.1)
    double p_max; // red: at max (0.1); dred, drd: at max (dred 1.0; drd 0.95)
    double weight;      // red: of the moving average (0.002)
    bool gentle;        // red: p rises from p_max at max to 1 at 2 max (Floyd 2000)
    usec_t target;      // codel 5 ms (RFC 8289); dualpi2 15 ms (RFC 9332)
    usec_t interval;    // codel 100 ms; dualpi2: Tupdate, 15 ms
    double alpha, beta; // dualpi2: 0.15, 3 Hz
    double k;           // dualpi2: coupling factor 2
    usec_t step;        // dualpi2: the L4S queue's marking threshold, 1 ms
};

struct queue;

struct queue_ops {
    // Takes the packet over: queues it, marks it, or drops it or others.
    void (*enqueue)(struct queue *q, struct packet *p, usec_t now);
    // The next packet to transmit, its queue_delay increased; may drop others on the way. NULL:
    // empty.
    struct packet *(*dequeue)(struct queue *q, usec_t now);
    void (*free)(struct queue *q); // held packets go back to their pool
};

struct queue { // embedded first
    const struct queue_ops *ops;
    struct queue_config config;
    struct dropper *dropper; // borrowed
    struct rng rng;
    double rate_bps; // set by the bottleneck whenever it changes; RED's idle time. 0: stands still
    uint64_t bytes;  // waiting now
    uint64_t packets;
};

// NULL: no memory.
struct queue *queue_new(const struct queue_config *config, struct dropper *dropper, uint64_t seed);
void queue_free(struct queue *q); // NULL is fine

// For the disciplines. `waiting` > size, with `extra` bytes and packets more; false for no bound.
static inline bool queue_exceeds(const struct queue *q, struct queue_size s, uint32_t bytes,
                                 uint32_t packets)
{
    return (s.bytes && q->bytes + bytes > s.bytes) ||
           (s.packets && q->packets + packets > s.packets);
}

#ifdef __cplusplus
}
#endif
#endif
