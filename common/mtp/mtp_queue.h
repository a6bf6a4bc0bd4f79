// SPDX-License-Identifier: GPL-2.0-or-later
// What the application wrote and MTP has not sent yet (Chung et al. 2005, section II-D).
//
//   Bounds: bytes (64 KB by default), the time a packet may wait, and MIN_BUF(A,B) over what is
//   queued and in flight together; a bound that is 0 does not bind. An empty queue takes one packet
//   whatever the bounds of size say, or a bound below a packet would stop the flow.
//   When full: `block` refuses the new packet; else the front is dropped until it fits. The front
//   is the oldest packet, or with `whole_frames` all packets of its frame, with those of that frame
//   that are written later. A packet that waited too long is dropped in either mode.
#ifndef WEIR_MTP_MTP_QUEUE_H
#define WEIR_MTP_MTP_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/usec.h"
#include "common/protocol/minbuf.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MTP_QUEUE_BYTES = 65536 };

struct mtp_packet {
    struct mtp_packet *next; // the queue's; owned
    int64_t number;          // given when it is sent; -1 before
    int64_t frame;
    usec_t written_at;
    bool ctrl; // MTP_CTRL
    uint16_t len;
    uint8_t bytes[];
};

// Hears of packets that will not arrive: dropped from the queue (number -1) or taken for lost. Must
// not call back into MTP. `p` is borrowed for the call.
typedef void mtp_lost_fn(void *owner, const struct mtp_packet *p);

struct mtp_queue_config {
    size_t bytes; // 0: MTP_QUEUE_BYTES
    usec_t wait;  // 0: no bound
    bool block;   // refuse when full, do not drop
    bool whole_frames;
    bool dynamic; // MIN_BUF holds, too
    struct minbuf minbuf;
    mtp_lost_fn *lost; // NULL: nobody listens
    void *owner;       // borrowed, for `lost`
};

struct mtp_queue {
    struct mtp_queue_config config;
    struct mtp_packet *front; // owned
    struct mtp_packet *back;
    size_t packets;
    size_t bytes;
    bool has_doomed;
    int64_t doomed; // the frame whose front was dropped, with whole_frames
    uint64_t dropped;
    uint64_t dropped_bytes;
};

void mtp_queue_init(struct mtp_queue *q, const struct mtp_queue_config *config);
void mtp_queue_destroy(struct mtp_queue *q);

// Copies the packet. `net`: the flow as MIN_BUF sees it, without what is queued here; used when the
// bound is dynamic. 0 (also when the packet itself is dropped, with its doomed frame); ERR_AGAIN
// (block: full); ERR_NO_MEMORY.
int mtp_queue_push(struct mtp_queue *q, const uint8_t *data, uint16_t len, int64_t frame, bool ctrl,
                   const struct tcp_snapshot *net, usec_t now);
// Would push take a packet of this length without dropping?
bool mtp_queue_has_room(struct mtp_queue *q, uint16_t len, const struct tcp_snapshot *net,
                        usec_t now);
// The oldest packet that is not too old, now the caller's to free; NULL: none.
struct mtp_packet *mtp_queue_pop(struct mtp_queue *q, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
