// SPDX-License-Identifier: GPL-2.0-or-later
// The rate of media over plain UDP, by the receiver reports of a server that knows nothing else
// (RFC 3550, 6.4.2): the fraction of packets lost, and the round trip.
//
//   The law, for each report (the loss-based controller of draft-ietf-rmcat-gcc-02, 6, with bounds
//   of our own, because reports come as rarely as every 5 s):
//     - fraction > 10 %: rate = the lesser of rate (1 - fraction / 2) and 0.9 of what arrived,
//       which is the sent rate times (1 - fraction).
//     - else, the round trip is 150 ms above its min, or 50 ms and grew by 25 ms since the last
//       report: a queue. rate = 0.85 of the lesser of the rate and what was sent.
//     - else, fraction > 2 %: the rate stays.
//     - else it grows by 8 % for each second since the last report, for 5 s at most.
//   Without any report for 15 s, after there was one, the rate is halved, and again each 15 s.
//   The rate stays between `floor` and `ceiling`. Before the first report it is the ceiling: some
//   servers never report. The min round trip is that of the last 30 to 60 s.
//
// Pure.
#ifndef WEIR_SENDER_POLICY_REPORT_RATE_H
#define WEIR_SENDER_POLICY_REPORT_RATE_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/base/windowed_min.h"

DECLS_BEGIN

#define REPORT_RATE_SILENCE (15 * USEC_PER_SEC)

struct report_rate {
    double floor_bps, ceiling_bps;
    double rate_bps;
    usec_t reported; // the last report, or halving; USEC_NEVER: none yet
    usec_t rtt;      // the last; 0: not known
    struct windowed_min min_rtt;
};

struct report_rate_event {
    double fraction_lost; // 0 .. 1
    usec_t rtt;           // 0: not known
    double sent_bps;      // what was sent of late
};

void report_rate_init(struct report_rate *r, double floor_bps, double ceiling_bps);
void report_rate_on_report(struct report_rate *r, const struct report_rate_event *e, usec_t now);
void report_rate_second(struct report_rate *r, usec_t now); // call it about once a second
// Returns bit/s.
double report_rate_bps(const struct report_rate *r);

DECLS_END
#endif
