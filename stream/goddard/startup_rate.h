// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the rate of a path from the first media, while TCP may still be in slow start.
//
//   The law. Time is divided into intervals of one round trip, at least STARTUP_RATE_LEAST, from
//   the first packet on. An interval ends with the first packet that arrives that long after its
//   first. The rate is that of the fastest interval: the bytes after its first packet, divided by
//   the time since that packet. The result is final
//     - after the first interval, if it spans four round trips: a slow start that begins with 10
//       packets (RFC 6928) has sent 150 packets by then;
//     - otherwise after the first interval whose rate is at most 5/4 of the previous one's: a
//       window that doubles each round trip (RFC 5681, 3.1) has reached the rate of the path, or of
//       the media, and no longer grows;
//     - or with the first packet that arrives STARTUP_RATE_MOST after the beginning.
//
// The round trip may be that of the control connection before any media. If the real one is longer,
// two intervals may see the same window; as each interval ends with a packet, that is harmless.
// Pure.
#ifndef WEIR_STREAM_GODDARD_STARTUP_RATE_H
#define WEIR_STREAM_GODDARD_STARTUP_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define STARTUP_RATE_LEAST (200 * USEC_PER_MSEC)
#define STARTUP_RATE_MOST  (5 * USEC_PER_SEC)

struct startup_rate {
    usec_t rtt;      // 0: unknown
    usec_t first_at; // arrival of the first packet; USEC_NEVER: none yet
    usec_t since;    // arrival of the interval's first packet
    int64_t bytes;   // bytes of the interval after its first packet
    double bps;      // rate of the fastest interval, bit/s
    double last_bps; // rate of the previous interval, bit/s; 0: none
    usec_t span;     // from the first packet to the end of the last interval
};

void startup_rate_init(struct startup_rate *r);
void startup_rate_set_rtt(struct startup_rate *r, usec_t rtt);
// A packet of media arrived. Returns true if `bps` and `span` are final; call it no more.
bool startup_rate_packet(struct startup_rate *r, size_t bytes, usec_t arrived);

DECLS_END
#endif
