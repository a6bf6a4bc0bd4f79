// SPDX-License-Identifier: GPL-2.0-or-later
// One direction of a link as text, with one syntax everywhere in Weir:
//
//     rate=30mbit,delay=50ms,queue=droptail:375000B,loss=0.5%
//
//   rate=R[:R@T...][:loop=T]    bit, kbit, mbit, gbit (powers of 1000, as tc); further rates at
//                               times since the start, all over again every `loop`
//   trace=FILE                  a packet-delivery trace (Mahimahi) in place of a rate
//   overhead=N                  bytes a packet costs beyond its IP length (Ethernet: 14 or 38)
//   queue=KIND[:LIMIT][:KEY=VALUE...]   see below; droptail:1000p. Needs a rate or a trace
//   loss=P%                     | loss=ge:p=P%:r=P%[:good=P%][:bad=P%]   0% and 100%
//                               | loss=mask:0010[*]   1: lost; *: over and over
//   delay=T  jitter=T           us, ms, s
//   reorder=P%:T
//
// Queue sizes: 375000B, 64KB (B, KB, MB, GB: powers of 1000), 250p, or a time at the link's (first,
// or the trace's mean) rate: 100ms. Each kind of queue, its keys and their defaults; `ecn` and
// `gentle` are flags, but droptail and drophead take ecn=SIZE (a step mark):
//
//   droptail, drophead   limit 1000p, ecn (none)
//   red                  limit 1000p, ecn, min limit/12, max 3 min, pmax 10%, weight 0.002, gentle
//   dred                 limit (drdcongest; must be said), ecn, min limit/2, max limit, pmin 10%,
//                        pmax 100%
//   drd                  limit 1000p, ecn, min limit/2, max limit, pmin 10%, pmax 95%
//   codel                limit 1000p, ecn, target 5ms, interval 100ms
//   dualpi2              limit 10000p, ecn (always), target 15ms, interval (Tupdate) 15ms,
//                        alpha 0.15, beta 3, k 2, step 1ms
//
// With `max` only, min is max/3 (red) or max/2. A plain 0 needs no unit. Packets pass loss, then
// queue and rate, then delay and jitter, then reordering. An empty text is a perfect link. Each key
// may occur at most once.
#ifndef WEIR_LINK_LINK_SPEC_H
#define WEIR_LINK_LINK_SPEC_H

#include "common/base/decls.h"
#include "lab/link/loss.h"
#include "lab/link/queue.h"
#include "lab/link/rate.h"

DECLS_BEGIN

enum { LINK_SPEC_TEXT_MAX = 4096, LINK_PATH_MAX = 1024 };

struct link_spec {
    bool has_rate; // false: no bottleneck, unless there is a trace
    struct rate_schedule rate;
    char trace[LINK_PATH_MAX]; // a path; "" = none
    uint32_t overhead;
    struct queue_config queue; // sizes given as times are resolved by link_spec_resolve
    struct loss_config loss;
    usec_t delay;
    usec_t jitter;
    double reorder; // probability
    usec_t reorder_by;
    // Sizes that the text gave as times; USEC_NEVER: none. Resolved by link_spec_resolve. A spec
    // built in code starts from link_spec_parse of "".
    struct {
        usec_t limit, mark, min, max;
    } as_time;
};

// Bounds: rates 1 kbit/s (or 0 in later steps) to 100 Gbit/s, times to 1 h (rate schedule: 30
// days), queues to 1 GB or 1e6 packets, overhead to 1000, probabilities 0-100 %. Returns 0;
// ERR_MALFORMED, ERR_RANGE: `error` (one line, without a program's name) contains the wrong part
// and the allowed values, and the contents of `spec` are undefined.
int link_spec_parse(const char *text, struct link_spec *spec, char *error, size_t error_cap);

// Converts queue sizes given as times to bytes at `bps` (at least one packet of 1500 bytes, at most
// 1 GB; max at least one packet above min). Call after parsing, when the trace's mean rate is
// known; link_init does.
void link_spec_resolve(struct link_spec *spec, double bps);

// A change during a run: the keys rate (constant; 0: an outage), delay, jitter, loss, reorder, each
// replacing its old value. Returns ERR_MALFORMED, ERR_RANGE as above, also for keys that cannot
// change.
struct link_change {
    bool rate, delay, jitter, loss, reorder; // true for the keys that are set in `spec`
    struct link_spec spec;
};
int link_change_parse(const char *text, struct link_change *change, char *error, size_t error_cap);

DECLS_END
#endif
