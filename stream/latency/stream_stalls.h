// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a byte stream often stops for a lost packet: it then delivers nothing until the packet
// has come again, a round trip later, and all that follows at once. A frame that is later than the
// one before it by STREAM_STALLS_PART of a round trip, and by STREAM_STALLS_LEAST, shows such a
// stall: where a queue builds up, each frame is little later than the one before it. The round trip
// is the present one, with its queues, as a packet that a full queue has lost needs that time.
//
// Stalls are frequent for STREAM_STALLS_SPAN after the last of STREAM_STALLS_COUNT in such a time.
// At random loss of p a TCP's window meets one each  rtt / (1.22 sqrt(p)):  at 0.5 % and 100 ms
// each 1.2 s. A full queue loses a packet each 3 to 10 s. Pure.
#ifndef WEIR_STREAM_LATENCY_STREAM_STALLS_H
#define WEIR_STREAM_LATENCY_STREAM_STALLS_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { STREAM_STALLS_COUNT = 3 };
#define STREAM_STALLS_SPAN  (5 * USEC_PER_SEC)
#define STREAM_STALLS_LEAST (50 * USEC_PER_MSEC)
#define STREAM_STALLS_PART  0.75

struct stream_stalls {              // stream_stalls.c alone reads and writes the fields
    usec_t offset;                  // of the last frame; USEC_NEVER: none
    usec_t at[STREAM_STALLS_COUNT]; // of the last stalls, a ring
    unsigned count;
};

void stream_stalls_init(struct stream_stalls *s);
// The next frame became whole. `offset`: its arrival minus its media time; `rtt`: 0: not known.
void stream_stalls_frame(struct stream_stalls *s, usec_t offset, usec_t rtt, usec_t now);
bool stream_stalls_are_frequent(const struct stream_stalls *s, usec_t now);

DECLS_END
#endif
