// SPDX-License-Identifier: GPL-2.0-or-later
// One media_transport over two: a viewer that is reachable over two networks, such as Wi-Fi and
// cellular. The first path carries the media. Over the second goes what the first would bring too
// late, within a share of the bytes.
//
//   Number.  Each path has its own flow numbers (RTP header extension 3), so that each has its own
//            reports and its own rate controller. RTP sequence numbers go on over both; a copy has
//            the number of its packet, and the receiver drops what it has (RFC 7198).
//   Wait.    A packet for which the first path has no room waits for it until the last instant at
//            which the second path brings the rest of its frame in time: the deadline, less half of
//            that path's delay and two deviations, less the frame at that path's rate.
//   Copy.    While a report of the first path is overdue (path_watch.h), what it has not settled is
//            copied over the second, each packet at its last instant.
//   Silence. A silence of the first path counts only if the second shows that the viewer runs. So
//            the oldest open packet is copied as soon as a report is overdue; once the second path
//            reports that, or anything later, all that is open leaves over the second at once, and
//            new packets do so, too, whatever the share. They go over the first as well, where that
//            has room: its first report ends the silence.
//   Share.   A bucket: each byte that leaves, over either path, adds `share` bytes, and each byte
//            over the second takes one; TWO_PATHS_CREDIT bytes are there at first. What leaves in a
//            silence takes credit, too, of which TWO_PATHS_DEBT is the least.
//   Warm.    Every TWO_PATHS_WARM a copy leaves over the second, so that its round trip is known,
//            and a NAT keeps its binding.
//
// Packets without a deadline repair a loss: they take whichever path has room, the second one while
// the first is overdue.
//
// Rejected: predicting how long the first path will be slow. A radio's rate says little of its rate
// in 100 ms; the last instant needs no prediction, and costs bytes only if the prediction were
// wrong.
//
// Pure.
#ifndef WEIR_PROTOCOL_TWO_PATHS_H
#define WEIR_PROTOCOL_TWO_PATHS_H

#include "common/base/decls.h"
#include "common/protocol/media_transport.h"

DECLS_BEGIN

#define TWO_PATHS_SHARE 0.12 // of all bytes (AUGUR, 2024)
#define TWO_PATHS_WARM  USEC_PER_SEC
#define TWO_PATHS_LATE  (300 * USEC_PER_MSEC) // after its deadline a packet is still worth a copy
enum {
    TWO_PATHS_KEPT = 1024, // packets of the first path that can be copied; a power of two
    TWO_PATHS_CREDIT = 256 << 10,
    TWO_PATHS_DEBT = -(256 << 10),
};

struct two_paths; // opaque

struct two_paths_config {
    // Borrowed. The viewer reports the packets of each (transport_info.settled).
    struct media_transport *path[2];
    uint16_t first_number[2]; // flow number of each path's first packet
    double share;             // 0 .. 1
};

// NULL: no memory.
struct two_paths *two_paths_new(const struct two_paths_config *config, usec_t now);
void two_paths_free(struct two_paths *t); // not the paths; NULL is fine
struct media_transport *two_paths_media(struct two_paths *t);
// The path `which` (0, 1) goes on over another transport, borrowed, whose first packet has the
// number of two_paths_next_number. Of what left over the one before no report comes.
void two_paths_set_path(struct two_paths *t, int which, struct media_transport *path, usec_t now);
uint16_t two_paths_next_number(const struct two_paths *t, int which);
// Call it after reports of either path, and when either has room again; then, as after
// two_paths_on_timeout, have the sending core send what waits.
void two_paths_on_event(struct two_paths *t, usec_t now);
usec_t two_paths_next_timeout(const struct two_paths *t);
void two_paths_on_timeout(struct two_paths *t, usec_t now);

struct two_paths_stats {
    uint64_t packets[2], bytes[2]; // that left over each path
    uint64_t copies;               // of these, over the second; also sent over the first
    uint64_t silences;             // of the first path
    usec_t silent;                 // their time, up to now
    bool is_silent;                // now
};
void two_paths_read(const struct two_paths *t, struct two_paths_stats *out, usec_t now);

DECLS_END
#endif
