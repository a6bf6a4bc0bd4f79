// SPDX-License-Identifier: GPL-2.0-or-later
// A group of competing flows as text:
//
//     elephants:n=7,cc=reno,start=5,stop=60     long TCP flows
//     mice:n=40,bytes=20000,cc=reno             connect, BYTES from the server, close, at once
//                                               again
//     cbr:rate=3mbit,size=1000                  UDP datagrams of SIZE payload bytes at RATE (of
//                                               payload; bit, kbit, mbit, gbit: powers of 1000)
//     udp-pareto:n=20,rate=500kbit,size=1000,on=0.5,off=1,shape=1.5
//                                               the same in on and off periods, of ON and OFF s in
//                                               the mean, Pareto-distributed with SHAPE
//     web:n=10,mean=50000,shape=1.2,off=1       objects of Pareto-distributed sizes (MEAN bytes,
//                                               SHAPE), OFF s between them in the mean
//
// Each key may occur at most once, in any order; only bytes and rate are required. The defaults are
// n=1, size=1000, web and udp-pareto as shown, start=0, no stop, and the system's cc. start and
// stop are seconds after the epoch.
#ifndef WEIR_LAB_TRAFFIC_MODEL_SPEC_H
#define WEIR_LAB_TRAFFIC_MODEL_SPEC_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "lab/traffic/model/request.h"

DECLS_BEGIN

enum { SPEC_FLOWS_MAX = 1000 };

enum spec_kind { SPEC_ELEPHANTS, SPEC_MICE, SPEC_CBR, SPEC_PARETO, SPEC_WEB, SPEC_KINDS };

struct spec {
    enum spec_kind kind;
    const char *text; // borrowed; as given
    int n;
    char cc[REQUEST_CC]; // "": the system's default
    int64_t bytes;       // mice
    int64_t rate_bps;    // cbr, udp-pareto
    int size;            // cbr, udp-pareto
    double mean;         // web
    double shape;        // web, udp-pareto
    usec_t on;           // udp-pareto
    usec_t off;          // web, udp-pareto
    usec_t start;
    usec_t stop; // USEC_NEVER: never
};

// Returns 0; ERR_MALFORMED or ERR_RANGE: `error` (one line, without a program's name) contains the
// wrong part and the allowed values.
int spec_parse(const char *text, struct spec *spec, char *error, size_t error_cap);

DECLS_END
#endif
