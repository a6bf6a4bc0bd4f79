// SPDX-License-Identifier: GPL-2.0-or-later
// How long the packets of one path take to be reported, and whether a report is overdue.
//
//   The law. The delay of a packet is the time from its departure until its fate is known. Of those
//   that one report settles the first counts, which has waited longest for it; mean and deviation
//   are those of RFC 6298, 2. The oldest packet whose fate is not known is overdue after
//   mean + 4 deviations, PATH_WATCH_MARGIN at least above the mean. A delay above twice that bound
//   counts as so much: an outage says little of the delay of what follows it. Until the first
//   delay is known, the bound is PATH_WATCH_FIRST.
//
// Pure.
#ifndef WEIR_PROTOCOL_PATH_WATCH_H
#define WEIR_PROTOCOL_PATH_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/windowed_min.h"

DECLS_BEGIN

enum { PATH_WATCH_PACKETS = 2048 }; // whose departures are remembered; a power of two
#define PATH_WATCH_MARGIN (30 * USEC_PER_MSEC)
#define PATH_WATCH_FIRST  (300 * USEC_PER_MSEC)

struct path_watch {         // path_watch_init first
    uint64_t sent;          // packets
    uint64_t settled;       // packets, in the order of sending, before the first of unknown fate
    double mean, deviation; // us; of the delay. mean 0: not known
    struct windowed_min least;
    usec_t left[PATH_WATCH_PACKETS];
};

void path_watch_init(struct path_watch *w);
void path_watch_sent(struct path_watch *w, usec_t now);
// The fates of the first `settled` packets are known. Numbers that are not plausible are ignored.
void path_watch_settle(struct path_watch *w, uint64_t settled, usec_t now);
// Returns the usual delay, us; 0: not known.
usec_t path_watch_delay(const struct path_watch *w);
usec_t path_watch_least(const struct path_watch *w); // of the last half minute to minute
usec_t path_watch_bound(const struct path_watch *w);
// Returns when the oldest packet of unknown fate is overdue; USEC_NEVER: there is no such packet.
usec_t path_watch_overdue_at(const struct path_watch *w);
// Returns for how long the oldest packet of unknown fate has been under way; 0: there is none.
usec_t path_watch_age(const struct path_watch *w, usec_t now);
usec_t path_watch_left(const struct path_watch *w, uint64_t number); // of a remembered packet

DECLS_END
#endif
