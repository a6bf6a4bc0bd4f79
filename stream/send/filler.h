// SPDX-License-Identifier: GPL-2.0-or-later
// Makes packets without frames, each as large as the path allows. Greedy filler sends as fast as
// the transport accepts packets; steady filler sends at a fixed rate, and skips packets that are
// overdue by more than the viewer's latency.
//
// Pure.
#ifndef WEIR_STREAM_SEND_FILLER_H
#define WEIR_STREAM_SEND_FILLER_H

#include "common/base/decls.h"
#include "stream/send/packet_writer.h"

DECLS_BEGIN

struct filler {
    bool greedy;
    usec_t begun_at;
    usec_t due_at;  // steady: time to write the next packet
    int64_t number; // number of the next packet
};

void filler_begin(struct filler *f, usec_t now); // the first packet is due now
bool filler_is_due(const struct filler *f, usec_t now);
// Time at which the next packet becomes due; USEC_NEVER: it is due already.
usec_t filler_next(const struct filler *f, usec_t now);
// Interval between two packets of `bytes` at `bps`; 0: greedy.
usec_t filler_interval(const struct filler *f, size_t bytes, int bps);
// Skips packets that have been due for longer than `latency`.
void filler_expire(struct filler *f, usec_t interval, usec_t latency, usec_t now);
// Writes the packet that is due, with `bytes` of payload, to `out`. `wall`: the wall clock now.
void filler_packet(const struct filler *f, size_t bytes, usec_t wall, struct outgoing_packet *out,
                   usec_t now);
void filler_sent(struct filler *f, usec_t interval);

DECLS_END
#endif
