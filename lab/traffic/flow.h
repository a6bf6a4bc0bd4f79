// SPDX-License-Identifier: GPL-2.0-or-later
// One flow at the client: it waits for its start, connects, sends a request, receives, and repeats
// as its spec requires. It retries a failed connection after FLOW_RETRY. Loop thread only.
#ifndef WEIR_TRAFFIC_FLOW_H
#define WEIR_TRAFFIC_FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/base/rng.h"
#include "common/base/usec.h"
#include "lab/traffic/model/request.h"
#include "lab/traffic/model/spec.h"
#include "lab/traffic/watch.h"

DECLS_BEGIN

#define FLOW_RETRY (100 * USEC_PER_MSEC)

// Shared by the flows of a client.
struct flow_env {
    uv_loop_t *loop; // borrowed
    struct sockaddr_storage server;
    void (*wake_at)(void *ctx, usec_t at); // called when flow_next_timeout becomes earlier
    void *ctx;                             // borrowed
};

struct flow {
    const struct flow_env *env; // borrowed
    const struct spec *spec;    // borrowed
    struct rng rng;
    struct request request; // the last request
    int64_t received;       // GET: bytes received of the last request
    struct watch *tcp;      // owned; NULL: neither connecting nor connected
    struct watch *udp;      // owned; NULL: no datagrams
    bool connected;
    usec_t next; // when to connect; USEC_NEVER while connected, and once stopped
    // Read by the owner:
    int64_t bytes;     // payload bytes since the start
    int64_t completed; // objects received completely
    int64_t failed;    // connections that failed or ended early
};

// The same `seed` gives the same objects and pauses. `start` is when the flow begins.
void flow_init(struct flow *f, const struct flow_env *env, const struct spec *spec, uint64_t seed,
               usec_t start);
// Stops at once, by a reset, and forever.
void flow_stop(struct flow *f);
usec_t flow_next_timeout(const struct flow *f);
void flow_on_timeout(struct flow *f, usec_t now);

DECLS_END
#endif
