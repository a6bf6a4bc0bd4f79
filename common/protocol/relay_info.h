// SPDX-License-Identifier: GPL-2.0-or-later
// What a proxy tells its viewer of the way behind it, in the response to GET_PARAMETER, next to the
// statistics of its own transport. NaN: unknown.
#ifndef WEIR_PROTOCOL_RELAY_INFO_H
#define WEIR_PROTOCOL_RELAY_INFO_H

#include <math.h>
#include <stdbool.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct relay_info {
    double backbone_rtt_ms;    // of the path to the origin, smoothed
    double backbone_rate_bps;  // what arrives of it
    double backbone_loss;      // part of the packets, 0 .. 1
    double backbone_delay_ms;  // mean time from the origin's first write of a frame to its arrival
    double backbone_skipped;   // frames that the origin left out
    double backbone_away_s;    // time since the origin was lost; 0: it is not lost
    double proxy_delay_ms;     // mean time from the arrival of a frame to its first write here
    double proxy_limit_bps;    // max rate that was requested of the origin; 0: none
    double proxy_badput_bytes; // of frames that could not be decoded and were not forwarded
    double proxy_viewers;      // that share what arrives from the origin, this one included
};

static inline struct relay_info relay_info_unknown(void)
{
    double n = (double)NAN;
    struct relay_info unknown = {n, n, n, n, n, n, n, n, n, n};
    return unknown;
}

// The fields by their names on the wire; the last row has a NULL name.
struct relay_field {
    const char *name;
    int decimals;
    double *value;
};

enum { RELAY_FIELDS = 11 };

static inline void relay_info_fields(struct relay_info *r, struct relay_field out[RELAY_FIELDS])
{
    const struct relay_field fields[RELAY_FIELDS] = {
        {"backbone.rtt_ms", 3, &r->backbone_rtt_ms},
        {"backbone.rate_bps", 0, &r->backbone_rate_bps},
        {"backbone.loss", 5, &r->backbone_loss},
        {"backbone.delay_ms", 3, &r->backbone_delay_ms},
        {"backbone.skipped", 0, &r->backbone_skipped},
        {"backbone.away_s", 3, &r->backbone_away_s},
        {"proxy.delay_ms", 3, &r->proxy_delay_ms},
        {"proxy.limit_bps", 0, &r->proxy_limit_bps},
        {"proxy.badput_bytes", 0, &r->proxy_badput_bytes},
        {"proxy.viewers", 0, &r->proxy_viewers},
        {(const char *)0, 0, (double *)0},
    };
    for (int i = 0; i < RELAY_FIELDS; i++)
        out[i] = fields[i];
}

DECLS_END
#endif
