// SPDX-License-Identifier: GPL-2.0-or-later
// Collects the stats of the path from the sender: those that the sender reports of its transport,
// and those that the receiver measures. Passes them to QoE and trace. One object for each
// connection. Loop thread only.
#ifndef WEIR_PLAYER_SESSION_PATH_STATS_H
#define WEIR_PLAYER_SESSION_PATH_STATS_H

#include "client/receive/video_receiver.h"
#include "common/base/decls.h"
#include "common/protocol/rtsp_client.h"
#include "player/report/trace.h"
#include "stream/qoe/qoe.h"

DECLS_BEGIN

struct path_stats;

// Both are borrowed; `events` may be NULL. NULL: no memory.
struct path_stats *path_stats_new(struct qoe *qoe, struct trace *events);
void path_stats_free(struct path_stats *p); // NULL is fine

// The transport is set up. `rtt`: the shortest so far; 0: unknown.
void path_stats_setup(struct path_stats *p, bool datagram, usec_t rtt, usec_t now);
void path_stats_moved(struct path_stats *p, bool datagram); // to another transport
// The sender reported its transport's state. Reports a change of MTP's mode to trace and log.
void path_stats_answer(struct path_stats *p, const struct rtsp_client_answer *a, usec_t now);
// Call it once a second with the receiver's measurements; writes the stats of that second to `out`.
void path_stats_second(struct path_stats *p, const struct video_receiver_stats *f,
                       struct qoe_transport *out, usec_t now);

usec_t path_stats_rtt(const struct path_stats *p); // 0: unknown
// The sender's last report; empty: none. Borrowed.
const struct transport_info *path_stats_sender(const struct path_stats *p);
// Returns the time since a proxy lost its origin, or -1 if it did not.
usec_t path_stats_origin_away(const struct path_stats *p, usec_t now);
// Returns how long the server's source has sent nothing, as far as the server says it; -1: it
// sends. *why: the reason, borrowed; may be empty.
usec_t path_stats_source_away(const struct path_stats *p, const char **why, usec_t now);

DECLS_END
#endif
