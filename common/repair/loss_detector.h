// SPDX-License-Identifier: GPL-2.0-or-later
// At the viewer: which packets of a stream are missing and are to be requested now, by a NACK (RFC
// 4585) or by a report that is sent at once (RFC 8888).
//
//   Hole. A packet is missing when a later one has arrived. It is requested when more later packets
//         arrived, or more time passed, than any packet recently came out of order by. Where the
//         path keeps the order, that is at once; each packet that is late raises the tolerance
//         (as RFC 8985, 6.2, adapts), which falls back after 10 to 20 s. At most REORDER packets
//         and half a round trip are waited for.
//   Tail. The packets of a frame say how many follow. If no packet came for longer than two gaps
//         within frames last (2 x mean + 4 x deviation, estimated as RFC 6298 does it), and for
//         the longest silence within a frame in the last 10 to 20 s, the rest of the frame
//         is missing: two packets of it are requested, and after as much silence the next two. A
//         path that pauses costs two needless copies, not a frame. A sender that competes with
//         another flow pauses now and then, for longer than mean and deviation remember. There
//         the next frame shows what is missing before the silence does. One lost packet within a
//         frame is no tail: the next one comes after two gaps.
//         The sender ignores a request that comes before the packet can have arrived
//         (repair_policy.h, "under way"): what is missing of a tail is requested again, at once,
//         when a later packet of the tail arrives.
//   Again. A missing packet is requested again after a round trip and its variation, at least 15
//         ms, up to TRIES times, while the answer can come within `keep` after it was noticed, or
//         300 ms later: playing waits for frames that others depend on, and the sender, which
//         knows these, sends no others so late (repair_policy.h, REPAIR_LATE). One request more
//         tells the sender that the last copy was lost, too: its encoder stops referring to the
//         frame.
//   Echo. A request after which no other can follow in time is repeated once, 8 ms later: it may
//         get lost, too. The sender ignores the second one (repair_policy.h, "under way").
//
//   Film. Media that waits for its packets (loss_detector_wait), as a film's viewer does, requests
//         each until it comes: after four tries less and less often, once a second at least. A
//         packet is given up when it was requested TRIES times and for `patience` on a path that is
//         heard: the sender has it no more. Of many missing packets the first
//         LOSS_DETECTOR_REQUESTED are requested, then the next ones. There is no echo.
//
// A packet that arrives less than 3/4 of the least round trip after its request was late, not
// resent.
//
// At most LOSS_DETECTOR_MISSING packets are kept as missing, of a film LOSS_DETECTOR_AWAITED; of a
// larger hole the last ones. Pure.
#ifndef WEIR_REPAIR_LOSS_DETECTOR_H
#define WEIR_REPAIR_LOSS_DETECTOR_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/base/windowed_min.h"
#include "common/wire/rtcp.h"

DECLS_BEGIN

enum {
    LOSS_DETECTOR_MISSING = 256,   // packets
    LOSS_DETECTOR_AWAITED = 8192,  // the same, of a film
    LOSS_DETECTOR_REQUESTED = 256, // of a film, at a time
    LOSS_DETECTOR_REORDER = 32,    // later packets that are waited for at most
    LOSS_DETECTOR_TRIES = 10,
    LOSS_DETECTOR_TAIL_UNKNOWN = -1, // the packet does not say what follows in its frame
};

struct loss_detector_path { // what the viewer knows of the path
    usec_t rtt;             // 0: unknown
    usec_t rtt_variation;   // RFC 6298's RTTVAR
    usec_t min_rtt;         // without queues
};

struct loss_detector_stats {
    uint64_t holes;    // packets that were requested
    uint64_t requests; // of packets, repeated ones and echoes included
    uint64_t late;     // requested, but they were only late
    uint64_t filled;   // came after a request
    uint64_t given_up;
};

struct loss_detector; // opaque

struct loss_detector *loss_detector_new(void); // NULL: no memory
void loss_detector_free(struct loss_detector *d);
void loss_detector_set_path(struct loss_detector *d, const struct loss_detector_path *path);
// How long after it was noticed a missing packet is in time: the viewer's latency. 0: each packet
// is requested once, with its echo.
void loss_detector_set_keep(struct loss_detector *d, usec_t keep);
// The media waits for its packets; `patience`: as above. Call it before the first packet. 0, or
// ERR_NO_MEMORY.
int loss_detector_wait(struct loss_detector *d, usec_t patience);
// The media begins, or continues elsewhere, with packet `first`: packets before it are not
// requested, and from it on all are expected, whichever arrives first.
void loss_detector_begin(struct loss_detector *d, int64_t first, usec_t now);
// The sender says that it has sent numbers up to `last`: what is missing of them is a tail.
void loss_detector_sent(struct loss_detector *d, int64_t last);

// The sender restarted: what was missing stays so. The next packet is the first.
void loss_detector_restart(struct loss_detector *d);

// Returns true if packet `seq`, which arrives now, did not before, but was requested: it was sent
// again. Call it before loss_detector_packet.
bool loss_detector_is_resent(const struct loss_detector *d, int64_t seq, usec_t now);
// A packet arrived that did not before: its extended sequence number >= 0 (rtp_receiver.h). `left`:
// how many packets of its frame follow.
void loss_detector_packet(struct loss_detector *d, int64_t seq, int left, usec_t now);
// A packet of any kind was read: the path is not silent, so that no tail is missing yet.
void loss_detector_heard(struct loss_detector *d, usec_t now);
// Parity recovered a packet: it is not missing any more, and says nothing of the path's order.
void loss_detector_recovered(struct loss_detector *d, int64_t seq, usec_t now);
// When loss_detector_requests has something to tell; USEC_NEVER: not before a packet arrives.
usec_t loss_detector_next_timeout(const struct loss_detector *d);
// Writes the packets to be requested now as NACK entries. Returns how many entries were written; if
// that is `cap`, there may be more.
int loss_detector_requests(struct loss_detector *d, struct rtcp_nack *out, int cap, usec_t now);
// Packets missing by now, requested or not.
int loss_detector_missing(const struct loss_detector *d);
// The first of them; INT64_MAX: none is missing.
int64_t loss_detector_oldest(const struct loss_detector *d);
// Returns true if none is missing of those that the sender is known to have sent.
bool loss_detector_is_complete(const struct loss_detector *d);
struct loss_detector_stats loss_detector_read(const struct loss_detector *d);

DECLS_END
#endif
