// SPDX-License-Identifier: GPL-2.0-or-later
// The receiving end of a datagram flow: records each packet's arrival time and ECN mark, and
// decides when an RFC 8888 report is due. It is the same for every rate controller.
//
//   due: the requested interval after the last report, or after the requested number of packets, or
//   at once when a hole is confirmed (three later packets), when the first CE mark since the last
//   report comes, or when half a report is full. Only if packets arrived since the last report.
//   cost: reports, with 28 bytes of IP and UDP each, take at most 5 % of the bytes received
//   (counted with the same headers), but one in 50 ms is always allowed; a report beyond the budget
//   waits for that. The first report does not wait for it, however small the first packet was (RFC
//   5348, 6.1): without a report a rate controller stays at its initial rate, a packet per second.
//
// A relay whose next link is full can ask to report packets as marked (datagram_receiver_mark): the
// sender then slows down as for congestion on the path here.
//
// A report covers the packets since the report before the last: each packet is reported twice, so
// that a lost report loses no information. If that exceeds a report's size, packets already
// reported are left out first; the rest is due at once.
#ifndef WEIR_PROTOCOL_DATAGRAM_RECEIVER_H
#define WEIR_PROTOCOL_DATAGRAM_RECEIVER_H

#include "common/base/decls.h"
#include "common/congestion/controller.h"
#include "common/wire/ccfb.h"

DECLS_BEGIN

enum { DATAGRAM_RECEIVER_WINDOW = 2048 }; // sequence numbers remembered, a power of two

struct datagram_arrival {
    usec_t at;    // first arrival
    bool arrived; // false: a hole
    uint8_t ecn;
};

struct datagram_receiver {
    bool started;
    uint32_t media_ssrc;
    uint32_t ssrc;   // SSRC of this receiver
    int64_t highest; // extended sequence number
    int64_t begin;   // first packet of the next report
    int64_t
        begin_after; // first packet of the report after the next: highest of the last report + 1
    int64_t hole_checked; // holes below this number were processed
    struct feedback_wish wish;
    unsigned fresh; // arrivals since the last report
    bool urgent;    // true if a hole was confirmed or a CE mark came
    usec_t last_report_at;
    double budget; // bytes
    uint64_t reports, report_bytes;
    uint64_t marked; // packets that came with the CE mark
    int to_mark;     // packets that are still to be reported as marked
    struct datagram_arrival window[DATAGRAM_RECEIVER_WINDOW];
};

void datagram_receiver_init(struct datagram_receiver *r, uint32_t ssrc, usec_t now);
// A media packet of `bytes` (as on the wire above UDP) arrived. `wish` is the report frequency that
// the packet requests; NULL: unchanged (initially 20 ms). A jump of more than half the window
// restarts the window; after a jump ahead, the last numbers before it are reported as missing: an
// outage is a loss.
void datagram_receiver_packet(struct datagram_receiver *r, uint32_t media_ssrc, uint16_t seq,
                              uint8_t ecn, uint32_t bytes, const struct feedback_wish *wish,
                              usec_t arrived);
// Reports the next `packets` new packets as marked (CE), or, those that are not ECN-capable, as
// missing. Adds to what was asked before; at most half of the window is outstanding.
void datagram_receiver_mark(struct datagram_receiver *r, int packets);
usec_t
datagram_receiver_next_report(const struct datagram_receiver *r); // USEC_NEVER: nothing to report
// Fills in the report that is due; call at next_report or later. Returns false if there is nothing
// to report.
bool datagram_receiver_report(struct datagram_receiver *r, struct ccfb *out, usec_t now);

DECLS_END
#endif
