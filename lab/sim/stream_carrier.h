// SPDX-License-Identifier: GPL-2.0-or-later
// How a simulated stream's RTP packets get from sender to viewer: both ends of a transport over the
// simulated network, with the protocols' own code. One file a carrier: carrier_tcp.c,
// carrier_mtp.c, carrier_datagram.c.
//
//   tcp[:sndbuf=BYTES]  simulated TCP, a packet a segment; the send buffer takes what comes, or so
//                       many bytes (KB = 1000)
//   minbuf[:A,B]        simulated TCP; minbuf.h says when a packet is admitted
//   mtp[:PARAMS]        mtp_flow.h
//   udp, psp, psp-plain, tfrc, arc[:PARAMS]   datagrams under the controller of that name
#ifndef WEIR_SIM_STREAM_CARRIER_H
#define WEIR_SIM_STREAM_CARRIER_H

#include <string.h>

#include "common/congestion/controller.h"
#include "lab/sim/flow.h"
#include "lab/sim/tcp_sender.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    STREAM_MAX_RTP = 1300,  // bytes of a packet, header included
    STREAM_MAX_VIA = 64,    // a carrier's name with its parameters
    STREAM_UDP_HEADERS = 28 // with IPv4's
};

// The first byte of what a stream's packets carry.
enum stream_kind { STREAM_MEDIA, STREAM_BACK, STREAM_PAIR, STREAM_ASK, STREAM_ANSWER };

struct stream_head {
    uint8_t kind; // enum stream_kind
    int64_t number;
    usec_t sent_at;
};

// What the sender knows of the path, as struct transport_info has it. NaN, 0: not known.
struct stream_path {
    double delivered_bytes, unsent_bytes, allowed_bps;
    usec_t rtt; // the last
};

struct stream_carrier;

struct stream_carrier_ops {
    // ---- At the sender
    // May a packet be handed over? When false, the carrier asks again (on_room) when it may.
    bool (*room)(struct stream_carrier *c, usec_t now);
    void (*send)(struct stream_carrier *c, const uint8_t *rtp, size_t len, usec_t now);
    bool (*wish)(const struct stream_carrier *c, struct feedback_wish *out); // NULL: wants none
    void (*media_rate)(struct stream_carrier *c, int bps, usec_t now);       // NULL: not interested
    bool (*is_empty)(const struct stream_carrier *c); // nothing waits here any more
    void (*back)(struct stream_carrier *c, struct packet *p, usec_t now); // takes the packet
    usec_t (*next)(struct stream_carrier *c, usec_t now);
    void (*run)(struct stream_carrier *c, usec_t now);
    // ---- At the viewer
    void (*arrived)(struct stream_carrier *c, struct packet *p, usec_t now); // takes the packet
    usec_t (*sink_next)(const struct stream_carrier *c);
    void (*sink_run)(struct stream_carrier *c, usec_t now);
    int64_t (*marked)(const struct stream_carrier *c); // packets with the CE mark; NULL: not known
    // ----
    void (*state)(const struct stream_carrier *c, struct flow_state *out, usec_t now);
    void (*path)(const struct stream_carrier *c, struct stream_path *out, usec_t now);
    void (*free)(struct stream_carrier *c);
};

struct stream_carrier { // embedded first
    const struct stream_carrier_ops *ops;
    struct flow *flow;     // borrowed: its counts, and its packets
    uint32_t packet_bytes; // of the largest RTP packet
    bool reliable;         // what was handed over arrives, in order
    // Frames, on the way or because there is no room for them: the policy may scale by loss
    // (goddard_inputs_loses_frames).
    bool may_lose;
    // At the sender: hand packets over now.
    void (*on_room)(void *ctx, usec_t now);
    // At the viewer: an RTP packet, borrowed for the call.
    void (*deliver)(void *ctx, const uint8_t *rtp, size_t len, usec_t now);
    void *ctx;
};

struct stream_carrier_config {
    const char *via; // checked
    struct flow *flow;
    uint32_t packet_bytes; // of the largest RTP packet; at most STREAM_MAX_RTP
    uint32_t ssrc;
    uint16_t first_seq;
    struct tcp_sender_config tcp; // of simulated TCP; `packets` does not count
    usec_t delayed_ack;
    uint64_t token;
};

// 0; ERR_NOT_FOUND: no such carrier; ERR_MALFORMED, ERR_RANGE: its parameters.
int stream_carrier_check(const char *via);
// NULL: no memory. The caller fills in on_room, deliver and ctx.
struct stream_carrier *stream_carrier_new(const struct stream_carrier_config *config, usec_t now);

struct stream_carrier *carrier_tcp_new(const struct stream_carrier_config *config,
                                       const char *params, bool minbuf);
int carrier_tcp_check(const char *params, bool minbuf);
struct stream_carrier *carrier_mtp_new(const struct stream_carrier_config *config,
                                       const char *params, usec_t now);
int carrier_mtp_check(const char *params);
struct stream_carrier *carrier_datagram_new(const struct stream_carrier_config *config,
                                            const char *controller, bool responsive, usec_t now);

// A packet of `bytes` on the wire with a head and `len` bytes of body; NULL: see flow_packet. Its
// head is read with stream_head_of, its body is at stream_body.
struct packet *stream_packet(struct flow *f, const struct stream_head *head, uint32_t bytes,
                             const void *body, size_t len);
static inline struct stream_head stream_head_of(const struct packet *p)
{
    struct stream_head head;
    memcpy(&head, p->data, sizeof(head));
    return head;
}
static inline const uint8_t *stream_body(const struct packet *p)
{
    return p->data + sizeof(struct stream_head);
}

#ifdef __cplusplus
}
#endif
#endif
