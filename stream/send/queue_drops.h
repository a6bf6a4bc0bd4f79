// SPDX-License-Identifier: GPL-2.0-or-later
// One RTP stream through a transport whose queue drops packets: packets are numbered when they are
// written, and renumbered when they leave, so that the viewer sees a gap in the sequence numbers
// only where the network lost a packet. Otherwise it would attribute what the sender dropped to the
// network, and request it.
//
//   The law: number on the wire = number as written - packets dropped before it.
//
// Packets leave in the order in which they were written. Copies of packets that left may be among
// them, and keep their packet's number. If the queue drops a packet of a frame of which others have
// left, none of the rest of that frame may leave: behind a gap that does not show, the viewer would
// take the frame for complete.
//
// Bound: the last QUEUE_DROPS_MEMORY dropped packets. Pure.
#ifndef WEIR_STREAM_SEND_QUEUE_DROPS_H
#define WEIR_STREAM_SEND_QUEUE_DROPS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { QUEUE_DROPS_MEMORY = 4096 };

struct queue_drops; // opaque

// `first`: number of the first packet. NULL: no memory.
struct queue_drops *queue_drops_new(uint16_t first);
void queue_drops_free(struct queue_drops *q); // NULL is allowed

// The packet that was written as number `seq` leaves; packets of one frame have one `timestamp`.
// Returns true, with its number on the wire in *wire; false: it must not leave, and counts as
// dropped once queue_drops_add says so.
bool queue_drops_leaves(struct queue_drops *q, uint16_t seq, uint32_t timestamp, uint16_t *wire);
// The queue dropped the packet. Returns true if it had not left before; false: it was a copy.
bool queue_drops_add(struct queue_drops *q, uint16_t seq, uint32_t timestamp);
// Converts the number of a packet that has left, or of the next one to be written.
uint16_t queue_drops_wire(const struct queue_drops *q, uint16_t seq);
// Converts the number of a packet on the wire to the one that it was written with.
uint16_t queue_drops_written(const struct queue_drops *q, uint16_t wire);

DECLS_END
#endif
