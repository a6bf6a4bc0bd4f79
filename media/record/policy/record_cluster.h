// SPDX-License-Identifier: GPL-2.0-or-later
// When the packets that a recording holds in memory are written, as a cluster of Matroska (RFC
// 9559, 5.1.3). What is not written is lost in a crash, so a cluster ends
//   - before a packet that is RECORD_CLUSTER_SPAN later than its first one,
//   - RECORD_CLUSTER_WAIT after its first packet came, even if no other one comes,
//   - when it is full.
// It also ends before a key frame, where players begin to read.
#ifndef WEIR_MEDIA_RECORD_POLICY_RECORD_CLUSTER_H
#define WEIR_MEDIA_RECORD_POLICY_RECORD_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    RECORD_CLUSTER_SPAN = 300 * 1000, // media time, us
    RECORD_CLUSTER_WAIT = 400 * 1000, // us
    RECORD_CLUSTER_PACKETS = 256,
    RECORD_CLUSTER_BYTES = 8 << 20,
};

struct record_cluster { // all zero: empty
    int packets;
    size_t bytes;
    usec_t first; // decoding time of the first packet
    usec_t begun; // when it came
};

// Returns true if the cluster must be written before this packet is added.
bool record_cluster_ends_before(const struct record_cluster *c, usec_t time, bool key);
void record_cluster_add(struct record_cluster *c, usec_t time, size_t bytes, usec_t now);
// Returns true if the cluster must be written now.
bool record_cluster_is_due(const struct record_cluster *c, usec_t now);
usec_t record_cluster_next_timeout(const struct record_cluster *c); // USEC_NEVER: it is empty

DECLS_END
#endif
