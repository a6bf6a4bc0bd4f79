// SPDX-License-Identifier: GPL-2.0-or-later
// Reports to the sender when each packet of a datagram transport arrived and how it was marked (RFC
// 8888): the protocol's receiver (datagram_receiver.h) on a timer. Loop thread only.
#ifndef WEIR_TRANSPORT_DATAGRAM_REPORTS_H
#define WEIR_TRANSPORT_DATAGRAM_REPORTS_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/net/udp_socket.h"
#include "common/protocol/datagram_receiver.h"
#include "common/wire/rtp.h"

DECLS_BEGIN

struct datagram_reports; // opaque

struct datagram_reports_config {
    uv_loop_t *loop;        // borrowed
    struct rtp_ext_ids ext; // id of the sender's header extension
    uint32_t ssrc;          // the viewer's SSRC
    uint32_t media_ssrc; // media SSRC of reports that use flow numbers (feedback extension of RTP)
    void (*send)(void *ctx, const uint8_t *data, size_t len); // sends a report
    void *ctx;                                                // borrowed
};

struct datagram_reports *datagram_reports_new(const struct datagram_reports_config *config,
                                              usec_t now); // NULL: logged
void datagram_reports_free(struct datagram_reports *r);    // NULL is fine
// A datagram arrived on the port for RTP; one that is not RTP is skipped.
void datagram_reports_packet(struct datagram_reports *r, const struct datagram *d);
void datagram_reports_mark(struct datagram_reports *r,
                           int packets); // see datagram_receiver_mark
uint64_t
datagram_reports_marked(const struct datagram_reports *r); // number of packets with the CE mark

DECLS_END
#endif
