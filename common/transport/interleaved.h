// SPDX-License-Identifier: GPL-2.0-or-later
// RTP on the RTSP connection: `$`, channel, length, packet (RFC 2326, 10.12). Shared by
// the TCP transports.
#ifndef WEIR_TRANSPORT_INTERLEAVED_H
#define WEIR_TRANSPORT_INTERLEAVED_H

#include "common/base/decls.h"
#include "common/base/rate_meter.h"
#include "common/transport/packet_parts.h"

DECLS_BEGIN

struct tcp_conn;

enum { INTERLEAVED_BATCH = 16 };

struct interleaved_packet {
    size_t head_len;
    uint8_t head[4 + MEDIA_PACKET_MAX_HEAD]; // bytes, including the framing
    struct iovec payload;                    // borrowed until the flush
    bool ends;                               // its segment, if it is shorter
    bool last;                               // of its frame
};

struct interleaved { // embedded first by a stream transport
    struct transport base;
    struct tcp_conn *conn;   // borrowed
    struct rate_meter meter; // bytes that the kernel accepted
    int queued;              // packets that wait for the flush
    struct interleaved_packet queue[INTERLEAVED_BATCH];
};

void interleaved_init(struct interleaved *i, const struct transport_path *path);
// Makes packets as large as one segment of `mss` bytes, the connection's current one. The path may
// change it at any time (RFC 1191).
void interleaved_follow_mss(struct interleaved *i, uint32_t mss);
// Releases the connection unchanged; another transport may use it afterwards.
void interleaved_destroy(struct interleaved *i);
// Adds a packet to the batch that interleaved_flush writes. The caller adds none while the
// connection has a backlog, so at most one batch waits behind RTSP responses. At most
// INTERLEAVED_BATCH.
void interleaved_queue(struct interleaved *i, enum media_track track, const struct media_packet *p);
// Writes the batch, after all data written to the connection since its first packet was added. A
// packet shorter than a segment ends its segment, so the next one begins another; parameter sets
// and audio do not. 0; ERR_FULL, ERR_CLOSED: the batch, or the rest of it, is lost.
int interleaved_flush(struct interleaved *i, usec_t now);
// The functions of the same names in struct transport_ops.
int interleaved_send(struct media_transport *t, enum media_track track,
                     const struct media_packet *p, usec_t now);
int interleaved_send_rtcp(struct transport *t, enum media_track track, const uint8_t *data,
                          size_t len, usec_t now);
void interleaved_info(struct media_transport *t, struct transport_info *out, usec_t now);

DECLS_END
#endif
