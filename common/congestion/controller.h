// SPDX-License-Identifier: GPL-2.0-or-later
// A rate controller: says when the next packet may leave, from what became of the packets before.
// It knows nothing of sockets, RTP or the form of feedback, and reads no clock. One file a
// controller (fixed.c, psp.c, tfrc.c, arc.c), one row in controllers.c.
//
// What it is told, in this order, `now` never running backwards:
//   sent      a packet left;
//   feedback  news of packets that were sent, each told of once: arrived, or lost. A packet counts
//             as lost once three later ones are known to have arrived (RFC 5348, 5.1);
//   rto       the endpoint heard nothing for a retransmission timeout (RFC 6298) with packets
//             outstanding. From here to the next feedback the endpoint itself lets one packet out
//             an RTO, whatever the controller says (datagram_sender.h);
//   timeout   the instant that next_timeout gave has come.
#ifndef WEIR_CONGESTION_CONTROLLER_H
#define WEIR_CONGESTION_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CONTROLLER_MAX_VARIABLES = 5, CONTROLLER_MAX_NAME = 48 };

// A packet that left.
struct cc_sent {
    int64_t number;  // 0, 1, 2 ... in the order of sending
    uint32_t bytes;  // as the endpoint counts them, always the same way; <= 65535
    bool backlogged; // the application had been waiting for this send: the controller was the limit
};

// What became of a packet.
struct cc_packet {
    int64_t number;
    uint32_t bytes;
    bool lost;         // else it arrived
    bool ce;           // arrived with Congestion Experienced (RFC 3168)
    usec_t sent_at;    // our clock
    usec_t arrived_at; // the receiver's clock, whose offset is unknown; lost: 0
};

struct cc_feedback {
    const struct cc_packet *packets; // ascending by number
    size_t count;                    // may be 0: the receiver is alive, no packet is news
    usec_t rtt;              // a sample, without the time that the receiver held it; 0: none
    usec_t srtt;             // RFC 6298, with this sample; 0: none yet
    int64_t highest_sent;    // number; -1: none
    int64_t highest_arrived; // number; -1: none
    uint64_t flight_bytes;   // sent after highest_arrived
};

struct controller_info {
    double rate_bps; // what it allows now, of `bytes` as in cc_sent; 0: nothing leaves at present
    double loss_events; // loss event rate p; NaN: not its thing
    struct {
        const char *name; // static; "p", "X_recv", "w", "B" (bit/s), "spacing" (us) ...
        double value;
    } variable[CONTROLLER_MAX_VARIABLES]; // its own, in the words of its paper; name NULL: no more
};

struct controller_config {
    uint32_t packet_bytes; // nominal packet size S, as in cc_sent; > 0
    double max_rate_bps;   // never above; > 0
};

// How often the receiver should report: whichever comes first. It reports at once at a loss anyway.
struct feedback_wish {
    usec_t interval;  // 0: one smoothed round-trip time
    unsigned packets; // 0: no such bound
};

struct controller;

struct controller_ops {
    void (*sent)(struct controller *c, const struct cc_sent *s, usec_t now);
    void (*feedback)(struct controller *c, const struct cc_feedback *f, usec_t now);
    void (*rto)(struct controller *c, int consecutive,
                usec_t now); // 1, 2 ... since the last feedback
    // The first instant >= now at which a packet may leave; USEC_NEVER: not before something
    // happens.
    usec_t (*next_send)(struct controller *c, usec_t now);
    // Its own timers. Both NULL: has none.
    usec_t (*next_timeout)(const struct controller *c);
    void (*timeout)(struct controller *c, usec_t now);
    // The fastest that this media is meant to leave. NULL: not interested.
    void (*media_rate)(struct controller *c, double bps, usec_t now);
    void (*info)(const struct controller *c, struct controller_info *out, usec_t now);
};

struct controller { // embedded first
    const struct controller_ops *ops;
    struct controller_config config;
    struct feedback_wish wish;
};

struct controller_kind {
    const char *name;
    const char *help; // a line: what it is, its parameters and their defaults
    size_t bytes;     // of the concrete struct
    // Reads "KEY=VALUE,..." ("" for none; a bare word is a named parameter set) into a zeroed
    // struct whose base.config is set, ready for `now`. 0; ERR_MALFORMED; ERR_RANGE.
    int (*init)(struct controller *c, const char *params, usec_t now);
};

// All controllers, ended by a NULL name.
extern const struct controller_kind controller_kinds[];

// "NAME" or "NAME:PARAMS". 0; ERR_NOT_FOUND; ERR_MALFORMED; ERR_RANGE; ERR_NO_MEMORY.
int controller_check(const char *name);
// NULL: a bad name, or no memory. The caller frees it with free().
struct controller *controller_new(const char *name, const struct controller_config *config,
                                  usec_t now);

#ifdef __cplusplus
}
#endif
#endif
