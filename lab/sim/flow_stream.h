// SPDX-License-Identifier: GPL-2.0-or-later
// A whole session: weir-send's sending core (stream_sender.h) with synthetic media
// (stream_source.h) at one end, weir-play's buffer and policy at the other (stream_viewer.h), and a
// transport between them (sim_transport.h). The viewer's requests, packet pairs and the end of the
// media are packets in the network too (stream_control.h), and so are its NACKs, which can get
// lost.
//
// With a proxy (sim_relay.h) the sink is the proxy, and what this flow counts as arrived has
// arrived there; the viewer is behind the access. The viewer's requests reach the network of the
// flow at once.
//
// With a second path (sim_second.h) the media takes both (two_paths.h), and what this flow counts
// is that of the first.
//
// Packets are as large as the programs' packets; requests are about as large as RTSP requests. A
// viewer does not set up a connection: the session begins with its first request.
#ifndef WEIR_SIM_FLOW_STREAM_H
#define WEIR_SIM_FLOW_STREAM_H

#include "common/base/decls.h"
#include "common/protocol/two_paths.h"
#include "lab/sim/sim_relay.h"
#include "lab/sim/sim_transport.h"
#include "lab/sim/stream_source.h"
#include "lab/sim/stream_viewer.h"
#include "stream/send/scheduler.h"

DECLS_BEGIN

enum { FLOW_STREAM_LEAST = 100, FLOW_STREAM_MOST = 1200 }; // bytes of a frame in a packet

struct flow_stream_config {
    const char *via; // passed sim_transport_check; borrowed, like the media
    const struct synthetic *media;
    const struct frame_sizes *sizes; // of its frames; borrowed; NULL: all frames have one size
    struct goddard_params goddard;
    usec_t length;  // of the media
    usec_t film;    // the media is a film, and this the viewer's buffer; 0: live media
    usec_t latency; // in the scheduler; of live media
    enum scheduler_mode queue;
    int64_t limit_bytes;     // of what waits there
    int level;               // as stream_viewer.h's
    uint32_t fragment_bytes; // of a frame in a packet
    bool by_media;           // stream_viewer.h
    bool in_part;            // stream_parts.h
    bool as_tcp;             // sim_transport.h
    enum repair_mode repair; // of datagrams; OFF: lost packets are neither requested nor sent again
    struct tcp_sender_config tcp;
    usec_t delayed_ack;
    const struct link_spec *access; // behind a proxy; borrowed; NULL: there is no proxy
    const char *access_via;         // passed sim_transport_check; borrowed
    usec_t access_rtt;
    usec_t backbone_rtt; // to the proxy
    usec_t target;
    enum reflect_mode reflect;
    const struct link_spec *second; // the second path's; borrowed; NULL: there is one path
    usec_t second_rtt;
    double share; // of the bytes, of the second path
};

// From `stop` on the server makes no more frames; frames in flight still arrive and are played.
// NULL: no memory.
struct flow *flow_stream_new(const struct flow_env *env, const struct flow_stream_config *config,
                             uint32_t id, usec_t start, usec_t stop, uint64_t seed);
// NULL: the flow is not a stream.
const struct stream_viewer *flow_stream_viewer(const struct flow *f);
// NULL: the flow is not a stream, or has no proxy.
const struct sim_relay *flow_stream_relay(const struct flow *f);
// Returns false if the flow is not a stream, or has one path.
bool flow_stream_paths(const struct flow *f, struct two_paths_stats *out, usec_t now);

DECLS_END
#endif
