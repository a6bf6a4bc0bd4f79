// SPDX-License-Identifier: GPL-2.0-or-later
// A simulation: a scenario's network and flows in a world with a virtual clock that begins at 0.
// The same scenario, seed included, gives the same outcome wherever double arithmetic is IEEE 754's
// without contraction (-ffp-contract=off where the machine has fused operations) and pow(), which
// Pareto distributions use, is the same.
#ifndef WEIR_SIM_SIM_H
#define WEIR_SIM_SIM_H

#include "lab/link/world.h"
#include "lab/sim/chain.h"
#include "lab/sim/flow.h"
#include "lab/sim/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

// In the network at once; what is beyond counts as dropped.
enum { SIM_PACKETS_MAX = 1000000, SIM_REPORTS_MAX = 100000 };

struct sim {
    struct world world;
    struct chain chain;
    struct packet_pool small, large;
    struct flow_env env;
    struct flow **flows; // owned, by id
    int *group_of;       // owned; which of the scenario's groups a flow is of
    uint32_t count;
};

// Must not move; the scenario stays as it is until sim_destroy. Groups of flows are numbered as the
// scenario has them, flows in that order. 0; ERR_MALFORMED, ERR_RANGE, ERR_TOO_BIG, ERR_NO_MEMORY:
// `error` says what is wrong, and there is nothing to destroy.
int sim_init(struct sim *s, const struct scenario *scenario, char *error, size_t error_cap);
void sim_destroy(struct sim *s);
// Up to and including that instant; not before an earlier one.
void sim_run(struct sim *s, usec_t until);
void sim_watch(struct sim *s, void (*on_arrival)(void *, const struct flow_arrival *, usec_t),
               void *ctx);

void sim_watch_streams(struct sim *s,
                       void (*on_stream)(void *, const struct stream_event *, usec_t), void *ctx);
// All of them, and there are some.
bool sim_streams_ended(const struct sim *s);

// Jain's index of n values x: (sum x)^2 / (n sum x^2). All 0: 1.
double sim_jain(double sum, double squares, size_t n);

#ifdef __cplusplus
}
#endif
#endif
