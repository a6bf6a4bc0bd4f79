// SPDX-License-Identifier: GPL-2.0-or-later
// PSP, the packet-spacing protocol (A. Feng, W. Feng, Belford 2001), plain and damped.
//
//   The law (2.1): a packet leaves t_x + t_s after its predecessor: t_x = its bytes / link, t_s the
//   spacing; never faster than the configured maximum, nor than the media's peak rate. Once per
//   base RTT (the min sample), from the feedback since the last decision:
//     lost > 0 (Figure 4):   t_s = t_s == 0 ? first : 2 t_s;     at most the base RTT
//     lost == 0:             t_s = t_s - step;                   at least 0
//   Damped (2.2): a loss right after a decrease takes the decrease back, and the next decision
//   changes nothing, as its feedback is about packets sent before; a loss without a preceding
//   decrease doubles t_s. Two base RTTs, but at least 20 ms, with packets outstanding and no
//   feedback also double t_s. A mark counts as a loss (RFC 3168, section 5).
//
// In the paper silence ends the flow. Here, feedback after a silence restores the spacing before
// it: from a base RTT back down by `step` per base RTT would take an hour. If only reports were
// lost, nothing else follows; packets that are reported lost double the spacing as always.
//
// The paper's sources always send. A frame of media, sent at the speed of the link, would overflow
// a queue that is shorter than the frame, however small the media's rate; and as the spacing is
// less than a packet's time on the bottleneck, no doubling would help.
//
// The paper starts at the full speed of the link, with the RTT known from a ping. Here the RTT
// comes from the first packets: until its first sample at most PSP_FIRST_PACKETS leave (RFC 6928's
// initial window), spaced by `initial`, which is also the spacing after that sample.
#ifndef WEIR_CONGESTION_PSP_H
#define WEIR_CONGESTION_PSP_H

#include "common/base/decls.h"
#include "common/congestion/controller.h"

DECLS_BEGIN

enum { PSP_FIRST_PACKETS = 10 };

struct psp {
    struct controller base;
    bool damped;
    double first, step;    // us
    double link;           // bit/s
    double peak;           // bit/s: the media's peak rate; 0: not known
    double spacing;        // us: t_s
    double previous;       // us: spacing before the last decision, if that was a decrease; else < 0
    double spacing_before; // us: `spacing` before the current silence; < 0: no silence
    bool hold;             // true: the next decision changes nothing
    double next_at;        // us: when the next packet may leave
    usec_t base_rtt;       // USEC_NEVER: no sample yet
    usec_t decided_at;
    usec_t received_at; // when feedback came, or packets became outstanding
    uint64_t outstanding_bytes;
    uint64_t arrived, lost; // packets reported since the last decision
    int early;              // packets sent before the first RTT sample
};

// Initialises the damped variant (2.2).
int psp_init(struct controller *c, const char *params, usec_t now);
// Initialises the plain variant (Figure 4 only).
int psp_plain_init(struct controller *c, const char *params, usec_t now);

#define CONTROLLER_PSP                                                                             \
    {                                                                                              \
        .name = "psp",                                                                             \
        .help = "damped packet spacing; psp:initial=0,first=50,step=2 (us),link=1000000000 "       \
                "(bit/s)",                                                                         \
        .bytes = sizeof(struct psp), .init = psp_init                                              \
    }
#define CONTROLLER_PSP_PLAIN                                                                       \
    {                                                                                              \
        .name = "psp-plain", .help = "packet spacing without damping; parameters as psp",          \
        .bytes = sizeof(struct psp), .init = psp_plain_init                                        \
    }

DECLS_END
#endif
