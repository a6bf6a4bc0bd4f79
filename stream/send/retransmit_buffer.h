// SPDX-License-Identifier: GPL-2.0-or-later
// Retransmits lost packets of live media that are still useful. A transport that does not
// retransmit leaves that to the application (Chung, Claypool, Kinicki 2005, section II; Clark and
// Tennenhouse: application level framing, 1990). When the viewer reports a packet missing (NACK,
// RFC 4585, 6.2.1) that later frames depend on and that can still arrive in time, it is given to
// the transport again, within the transport's window. That costs one packet and one round trip; a
// new frame coded for the loss takes several packets of a window that was just halved.
//
//   The law. The last RETRANSMIT_BUFFER_KEPT packets are kept; of two packets whose numbers are
//   4096 apart only the later one. Requested packets wait in the order of the requests, and leave
//   before all other media. A packet captured before `oldest` is dropped. Each packet is
//   retransmitted once: if it is lost again, the encoder repairs the loss.
//
// Pure.
#ifndef WEIR_STREAM_SEND_RETRANSMIT_BUFFER_H
#define WEIR_STREAM_SEND_RETRANSMIT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RETRANSMIT_BUFFER_KEPT = 128, // packets, a power of two
    RETRANSMIT_BUFFER_MAX_PACKET = 1500,
};

struct retransmit_buffer_packet { // part of an RTP packet
    const uint8_t *bytes;
    size_t len;
};

struct retransmit_buffer; // opaque

struct retransmit_buffer *retransmit_buffer_new(void); // NULL: no memory
void retransmit_buffer_free(struct retransmit_buffer *r);
// Keeps a copy of the sent packet `seq`, given in two parts. A packet longer than
// RETRANSMIT_BUFFER_MAX_PACKET bytes is not kept.
void retransmit_buffer_keep(struct retransmit_buffer *r, uint16_t seq, usec_t captured,
                            struct retransmit_buffer_packet head,
                            struct retransmit_buffer_packet body);
// Queues packet `seq` for retransmission. Returns true if it is kept, not older than `oldest`, and
// was not requested before.
bool retransmit_buffer_ask(struct retransmit_buffer *r, uint16_t seq, usec_t oldest);
// Writes the packet to retransmit now to `out`; it stays valid, and stays the next one, until
// retransmit_buffer_done or retransmit_buffer_keep. Returns false if no packet waits.
bool retransmit_buffer_next(struct retransmit_buffer *r, usec_t oldest,
                            struct retransmit_buffer_packet *out);
void retransmit_buffer_done(struct retransmit_buffer *r); // the packet of retransmit_buffer_next
                                                          // was sent

#ifdef __cplusplus
}
#endif
#endif
