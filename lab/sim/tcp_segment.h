// SPDX-License-Identifier: GPL-2.0-or-later
// The messages between simulated TCP endpoints. Sequence numbers count packets of one size, from 0,
// and do not wrap.
#ifndef WEIR_SIM_TCP_SEGMENT_H
#define WEIR_SIM_TCP_SEGMENT_H

#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    TCP_ACK_BYTES = 40,
    TCP_SPAN = 16384, // max packets from the first unacknowledged one to the newest; a power of two
    TCP_WINDOW_MAX = 10000,
    TCP_SACK_BLOCKS = 3, // as many as fit next to timestamps (RFC 2018, section 3)
    TCP_DUP_THRESH = 3,  // RFC 5681, section 3.2
};

struct tcp_sack_block {
    int64_t begin, end; // half-open: [begin, end)
};

struct tcp_ack {
    int64_t next; // all packets below this have arrived
    int blocks;   // <= TCP_SACK_BLOCKS; 0 without SACK
    struct tcp_sack_block block[TCP_SACK_BLOCKS];
};

DECLS_END
#endif
