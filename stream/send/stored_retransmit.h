// SPDX-License-Identifier: GPL-2.0-or-later
// Which frames of stored media were given again. A frame goes out whole again, however little of it
// is missing; so that mends all that was lost of it before, in however many entries and reports the
// viewer names its packets (NACK, RFC 4585, 6.2.1).
//
//   The law. A missing packet has its frame given again unless that was done since the packet left.
//
// Pure.
#ifndef WEIR_STREAM_SEND_STORED_RETRANSMIT_H
#define WEIR_STREAM_SEND_STORED_RETRANSMIT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    STORED_RETRANSMIT_KEPT = 512
}; // frames, a power of two: more than those that can be given again

struct stored_retransmit {
    struct {
        uint16_t number;             // of the frame, its low bits; of another place: none
        uint16_t next;               // the packet that was to leave next
    } given[STORED_RETRANSMIT_KEPT]; // by the number modulo the size
};

void stored_retransmit_init(struct stored_retransmit *r);
// Packet `seq`, of frame `number`, is missing; `next` leaves next. True: the frame is to be given
// again, and counts as given.
bool stored_retransmit_take(struct stored_retransmit *r, int64_t number, uint16_t seq,
                            uint16_t next);

#ifdef __cplusplus
}
#endif
#endif
