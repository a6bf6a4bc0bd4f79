// SPDX-License-Identifier: GPL-2.0-or-later
// The second path of a simulated stream (two_paths.h): a link of its own, and both ends of a
// transport over it. Reports return without a queue. Its owner is the stream (flow_stream.h).
#ifndef WEIR_SIM_SIM_SECOND_H
#define WEIR_SIM_SIM_SECOND_H

#include "common/base/decls.h"
#include "lab/link/link_spec.h"
#include "lab/sim/sim_transport.h"

DECLS_BEGIN

struct sim_second; // opaque

struct sim_second_config {
    const struct flow_env *env;            // borrowed
    const struct link_spec *link;          // borrowed for the call; without a trace
    usec_t rtt;                            // of the path; at least twice the link's delay
    struct sim_transport_config transport; // its `flow` is filled in here
    uint64_t seed;
    // At the viewer: an RTP packet arrived; borrowed for the call.
    void (*deliver)(void *ctx, const uint8_t *rtp, size_t len, usec_t now);
    // At the sender: reports came, or the path may have room again.
    void (*on_event)(void *ctx, usec_t now);
    void *ctx; // borrowed
};

// NULL: no memory.
struct sim_second *sim_second_new(const struct sim_second_config *config, usec_t now);
void sim_second_free(struct sim_second *s); // NULL is fine
struct media_transport *sim_second_media(struct sim_second *s);
// Call it after the stream has used the path: it runs when its transport next has something to do.
void sim_second_settle(struct sim_second *s, usec_t now);

DECLS_END
#endif
