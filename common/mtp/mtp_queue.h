// SPDX-License-Identifier: GPL-2.0-or-later
// Packets that the application wrote and MTP has not sent yet (Chung et al. 2005, section II-D).
//
//   Bounds: bytes (64 KB by default), the time a packet may wait, and MIN_BUF(A,B) over the queued
//   and the outstanding packets together; a bound of 0 does not limit. An empty queue takes one
//   packet regardless of the size bounds, or a bound below a packet would stop the flow.
//   When full: `block` refuses the new packet; otherwise the queue drops the front until the packet
//   fits. The front is the oldest packet, or with `whole_frames` all packets of its frame,
//   including those written later. A packet that waited too long is dropped in either mode.
#ifndef WEIR_MTP_MTP_QUEUE_H
#define WEIR_MTP_MTP_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/protocol/minbuf.h"

DECLS_BEGIN

enum { MTP_QUEUE_BYTES = 65536 };

struct mtp_packet {
    struct mtp_packet *next; // next in the queue; owned
    int64_t number;          // assigned when the packet is sent; -1 before
    int64_t frame;
    usec_t written_at;
    bool ctrl; // sent with the flag MTP_CTRL
    uint16_t len;
    uint8_t bytes[];
};

// Called for packets that will not arrive: dropped from the queue (number -1) or declared lost.
// Must not call back into MTP. `p` is borrowed for the call.
typedef void mtp_lost_fn(void *owner, const struct mtp_packet *p);
// Called for a packet that leaves the queue to be sent; may change its bytes. If it returns false,
// the queue drops the packet. Must not call back into MTP.
typedef bool mtp_leaves_fn(void *owner, struct mtp_packet *p);

struct mtp_queue_config {
    size_t bytes; // 0: MTP_QUEUE_BYTES
    usec_t wait;  // 0: no bound
    bool block;   // true: refuse packets when full; false: drop
    bool whole_frames;
    bool dynamic; // true: MIN_BUF also limits
    struct minbuf minbuf;
    mtp_lost_fn *lost;     // NULL: no callback
    mtp_leaves_fn *leaves; // NULL: no callback
    void *owner;           // borrowed; argument of both
};

struct mtp_queue {
    struct mtp_queue_config config;
    struct mtp_packet *front; // owned, with its successors
    struct mtp_packet *back;
    size_t packets;
    size_t bytes;
    bool has_doomed;
    int64_t doomed; // with whole_frames: the frame whose front was dropped
    uint64_t dropped;
    uint64_t dropped_bytes;
};

void mtp_queue_init(struct mtp_queue *q, const struct mtp_queue_config *config);
void mtp_queue_destroy(struct mtp_queue *q);

// Copies the packet. `net` is the flow as MIN_BUF counts it, without this queue; used if `dynamic`
// is set. Returns 0 (also when the packet is dropped because its frame is doomed); ERR_AGAIN
// (`block` is set and the queue is full); ERR_NO_MEMORY.
int mtp_queue_push(struct mtp_queue *q, const uint8_t *data, uint16_t len, int64_t frame, bool ctrl,
                   const struct tcp_snapshot *net, usec_t now);
// Returns true if push would take a packet of this length without dropping one.
bool mtp_queue_has_room(struct mtp_queue *q, uint16_t len, const struct tcp_snapshot *net,
                        usec_t now);
// Returns the oldest packet that has not expired, which the caller must free; NULL: none.
struct mtp_packet *mtp_queue_pop(struct mtp_queue *q, usec_t now);

DECLS_END
#endif
