// SPDX-License-Identifier: GPL-2.0-or-later
// A simulation: a scenario's network and flows in a world with a virtual clock that begins at 0.
// The same scenario, including its seed, gives the same outcome wherever double arithmetic is IEEE
// 754's without contraction (-ffp-contract=off where the machine has fused operations) and pow(),
// which Pareto distributions use, is the same.
#ifndef WEIR_SIM_SIM_H
#define WEIR_SIM_SIM_H

#include "common/base/decls.h"
#include "lab/link/world.h"
#include "lab/sim/chain.h"
#include "lab/sim/flow.h"
#include "lab/sim/scenario.h"

DECLS_BEGIN

// Max packets in the network at once; further ones count as dropped.
enum { SIM_PACKETS_MAX = 1000000, SIM_REPORTS_MAX = 100000 };

struct sim {
    struct world world;
    struct chain chain;
    struct packet_pool small, large;
    struct flow_env env;
    struct flow **flows; // owned; indexed by id
    int *group_of;       // owned; the scenario's group of each flow
    uint32_t count;
};

// The simulation must not move, and the scenario must not change until sim_destroy. Flows are
// numbered in the order of the scenario's groups. Returns 0; ERR_MALFORMED, ERR_RANGE, ERR_TOO_BIG,
// ERR_NO_MEMORY: `error` contains the fault, and there is nothing to destroy.
int sim_init(struct sim *s, const struct scenario *scenario, char *error, size_t error_cap);
void sim_destroy(struct sim *s);
// Runs up to and including `until`, which must not be before an earlier one.
void sim_run(struct sim *s, usec_t until);
void sim_watch(struct sim *s, void (*on_arrival)(void *, const struct flow_arrival *, usec_t),
               void *ctx);

void sim_watch_streams(struct sim *s,
                       void (*on_stream)(void *, const struct stream_event *, usec_t), void *ctx);
// Returns true if there are streams and all of them have ended.
bool sim_streams_ended(const struct sim *s);

// Returns Jain's index of n values x: (sum x)^2 / (n sum x^2); 1 if all are 0.
double sim_jain(double sum, double squares, size_t n);

DECLS_END
#endif
