// SPDX-License-Identifier: GPL-2.0-or-later
// The fates of a stream's packets as the viewer's requests tell them, for a transport that does not
// learn them itself: a packet that the viewer requested was lost; one that it did not request for
// long enough after it left has arrived. Copies and parity have no fate here.
//
// Packets are told in the order of sending. At most REQUEST_FATES_PACKETS wait; of more, the oldest
// are never told. Pure.
#ifndef WEIR_REPAIR_REQUEST_FATES_H
#define WEIR_REPAIR_REQUEST_FATES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { REQUEST_FATES_PACKETS = 2048 }; // a power of two

struct request_fates; // opaque

struct request_fates *request_fates_new(void); // NULL: no memory
void request_fates_free(struct request_fates *f);
// The next packet of the stream left, with sequence number `seq`: one more than the last.
void request_fates_sent(struct request_fates *f, uint16_t seq, usec_t now);
// The viewer requests packet `seq`. Ignored if its fate was told, or it was not sent.
void request_fates_requested(struct request_fates *f, uint16_t seq);
// Tells the fate of the next packet. Returns false if none is known: the next packet left less than
// `wait` ago.
bool request_fates_next(struct request_fates *f, usec_t wait, bool *lost, usec_t now);

DECLS_END
#endif
