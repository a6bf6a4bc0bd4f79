// SPDX-License-Identifier: GPL-2.0-or-later
// How a simulated stream's RTP packets get from sender to viewer: both ends of a transport over the
// simulated network, with the protocols' own code. The sending core sees the end that is a
// media_transport. One file a family: sim_transport_tcp.c, sim_transport_mtp.c,
// sim_transport_datagram.c.
//
//   tcp[:sndbuf=BYTES]  simulated TCP, a packet a segment; the send buffer takes what comes, or so
//                       many bytes (KB = 1000)
//   minbuf[:A,B]        simulated TCP; minbuf.h says when a packet is admitted
//   mtp[:PARAMS]        mtp_flow.h
//   udp, psp, psp-plain, tfrc, arc[:PARAMS]   datagrams under the controller of that name
#ifndef WEIR_SIM_SIM_TRANSPORT_H
#define WEIR_SIM_SIM_TRANSPORT_H

#include "common/base/decls.h"
#include "common/protocol/media_transport.h"
#include "lab/sim/flow.h"
#include "lab/sim/tcp_sender.h"

DECLS_BEGIN

enum {
    STREAM_MAX_RTP = 1300, // bytes of a packet, header included
    STREAM_MAX_VIA = 64,   // a transport's name with its parameters
};

struct sim_transport;

struct sim_transport_ops {
    // ---- At the sender, in addition to media_transport's
    bool (*is_empty)(const struct sim_transport *base); // returns true if no packet waits here
    void (*back)(struct sim_transport *base, struct packet *p, usec_t now); // takes over the packet
    usec_t (*next)(struct sim_transport *base, usec_t now);
    void (*run)(struct sim_transport *base, usec_t now);
    // ---- At the viewer
    void (*arrived)(struct sim_transport *base, struct packet *p,
                    usec_t now); // takes over the packet
    usec_t (*sink_next)(const struct sim_transport *base);
    void (*sink_run)(struct sim_transport *base, usec_t now);
    int64_t (*marked)(
        const struct sim_transport *base); // number of packets with the CE mark; NULL: unknown
    void (*mark)(struct sim_transport *base, int packets); // datagram_receiver_mark; NULL: cannot
    // ----
    void (*state)(const struct sim_transport *base, struct flow_state *out, usec_t now);
    void (*free)(struct sim_transport *base);
};

struct sim_transport {            // embedded first
    struct media_transport media; // first
    const struct sim_transport_ops *ops;
    struct flow *flow; // borrowed: its counts, and its packets
    // The network loses packets, or frames wait in the scheduler: the policy scales by loss. False:
    // TCP with an unlimited send buffer, as in the paper.
    bool may_lose;
    // At the sender: the transport has room again after `room` was false.
    void (*on_room)(void *ctx, usec_t now);
    // At the viewer: an RTP packet arrived; borrowed for the call.
    void (*deliver)(void *ctx, const uint8_t *rtp, size_t len, usec_t now);
    void *ctx;
};

struct sim_transport_config {
    const char *via; // checked
    struct flow *flow;
    uint32_t packet_bytes; // of the largest RTP packet; at most STREAM_MAX_RTP
    uint32_t ssrc;
    uint16_t first_seq;
    struct tcp_sender_config tcp; // of simulated TCP; `packets` does not count
    usec_t delayed_ack;
    // MTP is a mode of that TCP, as in Chung et al.: it has its initial window, timeouts and
    // acknowledgements, not those of the programs.
    bool as_tcp;
    uint64_t token;
};

// 0; ERR_NOT_FOUND: no such transport; ERR_MALFORMED, ERR_RANGE: its parameters.
int sim_transport_check(const char *via);
// Returns true if the viewer reports each packet of this transport, whose name is valid.
bool sim_transport_reports(const char *via);
// NULL: no memory. The caller fills in on_room, deliver and ctx; they are called only inside calls
// of the ops.
struct sim_transport *sim_transport_new(const struct sim_transport_config *config, usec_t now);

struct sim_transport *sim_transport_tcp_new(const struct sim_transport_config *config,
                                            const char *params, bool minbuf);
int sim_transport_tcp_check(const char *params, bool minbuf);
struct sim_transport *sim_transport_mtp_new(const struct sim_transport_config *config,
                                            const char *params, usec_t now);
int sim_transport_mtp_check(const char *params);
struct sim_transport *sim_transport_datagram_new(const struct sim_transport_config *config,
                                                 const char *controller, bool responsive,
                                                 usec_t now);

DECLS_END
#endif
