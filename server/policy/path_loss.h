// SPDX-License-Identifier: GPL-2.0-or-later
// When is a datagram path lost, of a session that can go on over its connection?
//
//   The viewer reports each packet at least once a frame (datagram_sender.h). The path is lost when
//   packets are outstanding, and no useful report has come for PATH_LOSS_TIME, or for a round trip
//   and half of that if this is longer. PATH_LOSS_PACKETS or more have left meanwhile, as one or
//   two may get lost; of fewer it takes twice as long.
//
// A queue that grows delays reports, too, but each by only some more than the one before. Rejected:
// half of the time, as a radio that pauses for 100 ms is none that is lost; a retransmission
// timeout (RFC 6298), which is a second at least.
//
// Pure.
#ifndef WEIR_SERVER_POLICY_PATH_LOSS_H
#define WEIR_SERVER_POLICY_PATH_LOSS_H

#include <stdbool.h>

#include "common/protocol/transport_info.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PATH_LOSS_TIME (200 * USEC_PER_MSEC)
enum { PATH_LOSS_PACKETS = 3 };

// Returns true if the path is lost. What left from *since on may not have arrived.
bool path_is_lost(const struct transport_info *info, usec_t *since, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
