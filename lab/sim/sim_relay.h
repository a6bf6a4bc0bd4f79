// SPDX-License-Identifier: GPL-2.0-or-later
// A simulated proxy and the access link behind it, for one viewer: weir-proxy's bridge
// (proxy/bridge/bridge.h) and a stream_sender, a transport, and a link of its own. Packets of the
// backbone go in, packets reach the viewer. The viewer's requests do not pass here: they reach the
// origin without the access's delay.
#ifndef WEIR_SIM_SIM_RELAY_H
#define WEIR_SIM_SIM_RELAY_H

#include "common/base/decls.h"
#include "common/wire/sdp.h"
#include "lab/link/link_spec.h"
#include "lab/link/world.h"
#include "lab/sim/sim_transport.h"
#include "proxy/bridge/bridge.h"
#include "stream/send/scheduler.h"

DECLS_BEGIN

struct sim_relay; // opaque

struct sim_relay_config {
    struct world *world; // borrowed, as are the next four
    const struct flow_env *env;
    const struct ladder *ladder;
    const struct link_spec *access; // towards the viewer; the way back has its delay alone
    const char *via;                // the access's transport (sim_transport_check)
    usec_t rtt;                     // of the access without queues; at least twice the link's delay
    enum sdp_codec codec;
    int level;             // that the viewer asks for at first (sim_relay_set_level)
    bool is_live;          // the origin encodes the media as it is sent
    uint32_t packet_bytes; // of the largest RTP packet
    enum reflect_mode reflect;
    usec_t target; // of reflection
    enum scheduler_mode queue;
    size_t queue_bytes; // 0: the scheduler's default
    usec_t latency;     // longest wait of a frame
    bool keeps_badput;
    usec_t backbone_rtt;
    struct tcp_sender_config tcp;
    usec_t delayed_ack;
    usec_t wall; // wall clock at time 0
    uint64_t seed;
    // A packet reached the viewer.
    void (*on_rtp)(void *ctx, const uint8_t *data, size_t len, usec_t now);
    // Requests to the origin, and orders for the backbone's reports (bridge.h). NULL: ignored.
    void (*limit)(void *ctx, double bps, usec_t now);
    void (*mark)(void *ctx, int packets, usec_t now);
    void (*request_key)(void *ctx, usec_t now);
    // A packet of the backbone that sim_relay_hold kept can be read. REFLECT_BLOCKING requires it.
    void (*released)(void *ctx, struct packet *p, usec_t now);
    // A frame was assembled. Returns its capture time on the clock of `now`.
    usec_t (*captured)(void *ctx, const struct received_frame *f);
    void *ctx;
};

// NULL: no memory, or the rtt is too short.
struct sim_relay *sim_relay_new(const struct sim_relay_config *config, usec_t now);
void sim_relay_free(struct sim_relay *r); // NULL is fine
// A whole frame came from the backbone; the relay takes it over.
void sim_relay_frame(struct sim_relay *r, struct received_frame *f, usec_t now);
// The viewer's requests, of which the origin has been told already. While it pauses, what comes is
// dropped, and the access is not read.
void sim_relay_set_level(struct sim_relay *r, int level, usec_t now);
void sim_relay_pause(struct sim_relay *r, usec_t now);
void sim_relay_play(struct sim_relay *r, usec_t now);
// Returns true if the proxy reads nothing of the backbone now (REFLECT_BLOCKING): no report leaves.
bool sim_relay_blocks(const struct sim_relay *r);
// Takes over a packet of the backbone that cannot be read now, and drops it if that exceeds a
// receive buffer of 64 KB. Returns false, and takes nothing, if the proxy reads.
bool sim_relay_hold(struct sim_relay *r, struct packet *p);
// Returns true if nothing waits here or in the access.
bool sim_relay_is_empty(const struct sim_relay *r);

struct sim_relay_stats {
    struct bridge_stats bridge;
    struct scheduler_counters frames;
    usec_t waiting;         // age of the oldest frame that waits here
    uint64_t arrived_bytes; // at the viewer, IP packets
    double unsent_bytes;    // in the transport
};

void sim_relay_read(const struct sim_relay *r, struct sim_relay_stats *out, usec_t now);

DECLS_END
#endif
