// SPDX-License-Identifier: GPL-2.0-or-later
// One viewing of a film over a path whose rate is a trace, on a virtual clock.
//
//   ABR_SEGMENTS  As players over HTTP do it, and the public simulator Sabre (Spiteri, Sitaraman,
//                 Sparacio 2019): one request after the other, a round trip before the first byte,
//                 then the path's rate. A group is played when it is whole. A request waits until
//                 the buffer has room. A segment may be abandoned, looked at every 50 ms or 12
//                 kbit.
//   ABR_STREAM    As Weir does it: the sender goes on without gaps, in the decided order and at the
//                 decided pace. It begins a group when only `kernel_bytes` of the group before it
//                 have not left, so a decision counts for the next group not yet begun: it is made
//                 a round trip earlier. A group that is cut off is sent again as a whole, after
//                 what is on its way; it counts as wasted, and as shown at the lower level. Within
//                 a group the first frame has .12 of the bytes, the others share the rest; they are
//                 played as they arrive. Steps of 10 ms.
//
// The QoE is that of MPC (Yin et al. 2015): of each group its level's Mbit/s, minus the change from
// the group before, minus the top level's Mbit/s for each second of stall; the mean over groups.
// With quality also Puffer's form (Yan et al. 2020): SSIM in dB, minus its change, minus 100 for
// each second. The wait for the first picture is no stall. Pure.
#ifndef WEIR_ABR_ABR_SESSION_H
#define WEIR_ABR_ABR_SESSION_H

#include "common/base/decls.h"
#include "lab/abr/abr_film.h"
#include "lab/abr/rate_trace.h"
#include "stream/abr/abr_policy.h"

DECLS_BEGIN

#define ABR_SSIM_STALL 100.0 // dB a second

enum abr_delivery { ABR_SEGMENTS, ABR_STREAM };

struct abr_decided { // an event, for plots
    struct abr_decision decision;
    usec_t buffered;
    usec_t at;
};

struct abr_session {
    const struct abr_film *film; // borrowed, as are these
    const struct rate_trace *trace;
    struct abr_policy *policy;
    enum abr_delivery delivery;
    usec_t rtt;
    usec_t target; // of the buffer
    int64_t kernel_bytes;
    void (*decided)(void *ctx, const struct abr_decided *d); // NULL: none
    void *ctx;
};

struct abr_result {
    bool complete;  // false: the path was so slow that it was given up after 20 times the length
    double seconds; // from the request to the last picture
    double first_picture_s;
    double stalled_s;
    int stalls;
    double mean_kbps; // of the levels that were shown
    int changes;
    double qoe;
    double mean_db;  // NaN without quality
    double qoe_ssim; // NaN without quality
    int64_t bytes;
    int64_t wasted_bytes; // that arrived and were not shown
    int exchanges;
    int cuts; // groups that were sent again at a lower level
};

// 0; ERR_NO_MEMORY.
int abr_session_run(const struct abr_session *s, struct abr_result *out);

// What is shown of a film, group by group; for the two kinds of sessions and the tests.
void abr_result_shown(struct abr_result *r, const struct abr_film *f, const uint8_t *levels);

DECLS_END
#endif
