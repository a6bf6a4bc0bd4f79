// SPDX-License-Identifier: GPL-2.0-or-later
// When the datagrams of a source leave: at a constant rate (cbr.h) all the time, or in "on" periods
// with "off" periods between them, beginning with "on". The periods are drawn from Pareto
// distributions; many such sources together make self-similar traffic (Willinger et al.:
// Self-Similarity Through High-Variability, 1997). Pure.
#ifndef WEIR_LAB_TRAFFIC_MODEL_ONOFF_H
#define WEIR_LAB_TRAFFIC_MODEL_ONOFF_H

#include "common/base/decls.h"
#include "common/base/rng.h"
#include "common/base/usec.h"
#include "lab/traffic/model/cbr.h"

DECLS_BEGIN

struct onoff_config {
    int size_bytes;   // above 0
    int64_t rate_bps; // above 0
    usec_t on, off;   // mean lengths of the periods; off 0: always on
    double shape;     // of both distributions, above 1
    uint64_t seed;
};

struct onoff {
    struct onoff_config config;
    struct rng rng;
    struct cbr cbr;  // of the current period, or of the next one while off
    usec_t on_until; // USEC_NEVER: always on
};

void onoff_init(struct onoff *o, const struct onoff_config *config, usec_t now);
// Returns when the next datagram is due.
usec_t onoff_next_timeout(const struct onoff *o);
// Returns how many datagrams are due, and skips those that are more than CBR_CATCH_UP late.
int64_t onoff_due(struct onoff *o, usec_t now);
// Call after sending a datagram.
void onoff_on_sent(struct onoff *o);

DECLS_END
#endif
