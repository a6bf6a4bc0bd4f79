// SPDX-License-Identifier: GPL-2.0-or-later
// Packets without frames, all as large as may be: at a steady rate, or greedy, as fast as the
// transport takes them. A steady packet that waited for the viewer's latency is left out.
//
// Pure.
#ifndef WEIR_STREAM_SEND_FILLER_H
#define WEIR_STREAM_SEND_FILLER_H

#include "stream/send/packet_writer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct filler {
    bool greedy;
    usec_t begun_at;
    usec_t due_at;  // steady: when the next packet is written
    int64_t number; // of the next packet
};

void filler_begin(struct filler *f, usec_t now); // packets are due from now on
bool filler_is_due(const struct filler *f, usec_t now);
// When the next packet is due; USEC_NEVER: it is.
usec_t filler_next(const struct filler *f, usec_t now);
// Between two packets of `bytes` at `bps`; 0: greedy.
usec_t filler_interval(const struct filler *f, size_t bytes, int bps);
// Leaves out packets that have been due for longer than `latency`.
void filler_expire(struct filler *f, usec_t interval, usec_t latency, usec_t now);
// The packet that is due, with `bytes` of payload. `wall`: the wall clock now.
void filler_packet(const struct filler *f, size_t bytes, usec_t wall, struct outgoing_packet *out,
                   usec_t now);
void filler_sent(struct filler *f, usec_t interval);

#ifdef __cplusplus
}
#endif
#endif
