// SPDX-License-Identifier: GPL-2.0-or-later
// The receiving end of a datagram flow: notes when each packet came and with which ECN mark, and
// says when an RFC 8888 report is due. The same for every rate controller.
//
//   due: the wished interval after the last report, or after the wished number of packets, or at
//   once when a hole is confirmed (three later packets) or the first CE mark since the last report
//   comes, or when half a report is full. Only if something arrived since the last report.
//   cost: reports, with 28 bytes of IP and UDP each, take at most 5 % of the bytes received
//   (counted with theirs), but one a second is always allowed; a report that cannot be paid for
//   waits.
//
// A report covers what came since the one before the last: each packet is told of twice, so that a
// lost report loses nothing. When that is more than a report holds, the second telling gives way
// first; what is left then is due at once.
#ifndef WEIR_PROTOCOL_DATAGRAM_RECEIVER_H
#define WEIR_PROTOCOL_DATAGRAM_RECEIVER_H

#include "common/congestion/controller.h"
#include "common/wire/ccfb.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DATAGRAM_RECEIVER_WINDOW = 2048 }; // sequence numbers remembered, a power of two

struct datagram_arrival {
    usec_t at;    // first arrival
    bool arrived; // else a hole
    uint8_t ecn;
};

struct datagram_receiver {
    bool started;
    uint32_t media_ssrc;
    uint32_t ssrc;        // ours
    int64_t highest;      // extended sequence number
    int64_t begin;        // of the next report
    int64_t begin_after;  // of the one after it: the highest of the last report + 1
    int64_t hole_checked; // holes below were seen to
    struct feedback_wish wish;
    unsigned fresh; // arrivals since the last report
    bool urgent;    // a hole was confirmed, or a CE mark came
    usec_t last_report_at;
    double budget; // bytes
    uint64_t reports, report_bytes;
    uint64_t marked; // packets that came with the CE mark
    struct datagram_arrival window[DATAGRAM_RECEIVER_WINDOW];
};

void datagram_receiver_init(struct datagram_receiver *r, uint32_t ssrc, usec_t now);
// A media packet of `bytes` (as on the wire above UDP) came. `wish`: what the packet asks for;
// NULL: as before (before the first: 20 ms). Jumps of more than half the window start anew; after
// one ahead, the last numbers before it are told of as missing: an outage is a loss.
void datagram_receiver_packet(struct datagram_receiver *r, uint32_t media_ssrc, uint16_t seq,
                              uint8_t ecn, uint32_t bytes, const struct feedback_wish *wish,
                              usec_t arrived);
usec_t
datagram_receiver_next_report(const struct datagram_receiver *r); // USEC_NEVER: nothing to tell
// Fills the report that is due; call at next_report or later. False: nothing to tell.
bool datagram_receiver_report(struct datagram_receiver *r, struct ccfb *out, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
