// SPDX-License-Identifier: GPL-2.0-or-later
// Records which frames of stored media were sent again. The sender sends the whole frame again even
// if a single packet is missing. That repairs all earlier losses of the frame, in however many NACK
// entries and reports (RFC 4585, 6.2.1) the viewer names its packets.
//
//   The law. A missing packet causes its frame to be sent again, unless the frame was sent again
//   after that packet left.
//
// Pure.
#ifndef WEIR_STREAM_SEND_STORED_RETRANSMIT_H
#define WEIR_STREAM_SEND_STORED_RETRANSMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    STORED_RETRANSMIT_KEPT = 512
}; // frames, a power of two; more than the number of frames that can be sent again

struct stored_retransmit {
    struct {
        uint16_t number;             // low 16 bits of the frame's number; if they do not match the
                                     // index, the entry is empty
        uint16_t next;               // sequence number of the next packet at that time
    } given[STORED_RETRANSMIT_KEPT]; // at index frame number % STORED_RETRANSMIT_KEPT
};

void stored_retransmit_init(struct stored_retransmit *r);
// Packet `seq`, of frame `number`, is missing; `next` is the sequence number of the next packet.
// Returns true if the caller shall send the frame again; the frame then counts as sent again.
bool stored_retransmit_take(struct stored_retransmit *r, int64_t number, uint16_t seq,
                            uint16_t next);
// The frame was not sent again after all.
void stored_retransmit_forget(struct stored_retransmit *r, int64_t number);

DECLS_END
#endif
