// SPDX-License-Identifier: GPL-2.0-or-later
// The rate of a path from the first media over it, where TCP may still be in its slow start.
//
//   The law. Intervals of a round trip, at least STARTUP_RATE_LEAST, follow each other from the
//   first packet on; one ends with the packet that is as late as that. The rate is that of the
//   fullest interval: the bytes after its first packet, over the time since it. Known
//     - after the first one, when four round trips fit in it: a slow start that begins with 10
//       packets (RFC 6928) has sent 150 by then;
//     - or else after the first that brought no more than 5/4 of the rate before it: a window that
//       doubles each round trip (RFC 5681, 3.1) has met the path, or the media, and grows no more;
//     - or with the first packet STARTUP_RATE_MOST after the beginning.
//
// The round trip may be that of the control connection before any media: a longer one in truth only
// lets two intervals see the same window, as each ends with a packet. Pure.
#ifndef WEIR_STREAM_GODDARD_STARTUP_RATE_H
#define WEIR_STREAM_GODDARD_STARTUP_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STARTUP_RATE_LEAST (200 * USEC_PER_MSEC)
#define STARTUP_RATE_MOST  (5 * USEC_PER_SEC)

struct startup_rate {
    usec_t rtt;      // 0: unknown
    usec_t first_at; // USEC_NEVER: nothing came yet
    usec_t since;    // the interval's first packet
    int64_t bytes;   // of it, after that one
    double bps;      // of the fullest
    double last_bps; // of the one before; 0: none
    usec_t span;     // from the first packet to the end of the last interval
};

void startup_rate_init(struct startup_rate *r);
void startup_rate_set_rtt(struct startup_rate *r, usec_t rtt);
// A packet of media came. True: `bps` and `span` are what there is to know; feed no more.
bool startup_rate_packet(struct startup_rate *r, size_t bytes, usec_t arrived);

#ifdef __cplusplus
}
#endif
#endif
