// SPDX-License-Identifier: GPL-2.0-or-later
// A rate controller decides when the next packet may leave, from feedback on earlier packets. It is
// independent of sockets, RTP and the format of feedback, and reads no clock. Each controller is
// one file (fixed.c, psp.c, tfrc.c, arc.c, scream.c) and one row in controllers.c.
//
// Its inputs, with `now` never running backwards:
//   sent      a packet left;
//   feedback  a report on sent packets. Each packet is reported once: as arrived, or as lost. A
//             packet counts as lost once three later ones are known to have arrived (RFC 5348,
//             5.1);
//   rto       the endpoint received nothing for a retransmission timeout (RFC 6298) with packets
//             outstanding. From here to the next feedback the endpoint itself sends one packet per
//             RTO, whatever the controller returns (datagram_sender.h);
//   timeout   the instant that next_timeout returned has come.
#ifndef WEIR_CONGESTION_CONTROLLER_H
#define WEIR_CONGESTION_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { CONTROLLER_MAX_VARIABLES = 5, CONTROLLER_MAX_NAME = 48 };

// A packet that was sent.
struct cc_sent {
    int64_t number;  // 0, 1, 2 ... in the order of sending
    uint32_t bytes;  // as the endpoint counts them, consistently; <= 65535
    bool backlogged; // true if the application had been waiting for this send: the controller was
                     // the limit
};

// The outcome of a packet.
struct cc_packet {
    int64_t number;
    uint32_t bytes;
    bool lost;         // true: lost; false: arrived
    bool ce;           // arrived with Congestion Experienced (RFC 3168)
    usec_t sent_at;    // on the sender's clock
    usec_t arrived_at; // on the receiver's clock, whose offset is unknown; 0 if lost
};

struct cc_feedback {
    const struct cc_packet *packets; // ascending by number
    size_t count;                    // may be 0: the receiver is alive and reports nothing new
    usec_t rtt;                      // an RTT sample without the receiver's delay; 0: none
    usec_t srtt;                     // smoothed RTT (RFC 6298) including this sample; 0: none yet
    int64_t highest_sent;            // number; -1: none
    int64_t highest_arrived;         // number; -1: none
    uint64_t flight_bytes;           // bytes sent after highest_arrived and after the last rto
};

struct controller_info {
    double rate_bps;    // the rate allowed now, of `bytes` as in cc_sent; 0: nothing may leave
    double loss_events; // loss event rate p; NaN: the controller has none
    bool leads;         // true while its rate is the media's: it keeps the queue short itself, or
                        // takes its share of a queue that others hold as a TCP does
    struct {
        const char *name; // static; "p", "X_recv", "w", "B" (bit/s), "spacing" (us) ...
        double value;
    } variable[CONTROLLER_MAX_VARIABLES]; // the controller's own variables, named as in its paper;
                                          // name NULL: end
};

struct controller_config {
    uint32_t packet_bytes; // nominal packet size S, counted as cc_sent.bytes; > 0
    double max_rate_bps;   // upper bound of the rate; > 0
    // What another transport has shown of the path: a controller may begin there. 0: nothing.
    double start_bps;
    usec_t start_rtt;
};

// How often the receiver should report: at the earlier of the two bounds, and at once after a loss.
struct feedback_wish {
    usec_t interval;  // 0: one smoothed round-trip time
    unsigned packets; // 0: no such bound
};

struct controller;

struct controller_ops {
    void (*sent)(struct controller *c, const struct cc_sent *s, usec_t now);
    void (*feedback)(struct controller *c, const struct cc_feedback *f, usec_t now);
    void (*rto)(struct controller *c, int consecutive,
                usec_t now); // `consecutive`: 1, 2 ... timeouts since the last feedback
    // Returns the first instant >= now at which a packet may leave; USEC_NEVER: not before the next
    // input.
    usec_t (*next_send)(struct controller *c, usec_t now);
    // Timers of the controller. Both NULL: it has none.
    usec_t (*next_timeout)(const struct controller *c);
    void (*timeout)(struct controller *c, usec_t now);
    // Reports the max rate at which the media will be sent. NULL: the controller does not use it.
    void (*media_rate)(struct controller *c, double bps, usec_t now);
    void (*info)(const struct controller *c, struct controller_info *out, usec_t now);
};

struct controller { // first member of each concrete controller
    const struct controller_ops *ops;
    struct controller_config config;
    struct feedback_wish wish;
    bool l4s; // true: packets that are ECN-capable carry ECT(1) (RFC 9331); false: ECT(0)
};

struct controller_kind {
    const char *name;
    const char *help; // one line: description, parameters and their defaults
    size_t bytes;     // size of the concrete struct
    // Reads "KEY=VALUE,..." ("" for none; a bare word is a named parameter set) into a zeroed
    // struct whose base.config is set; the controller starts at `now`. Returns 0; ERR_MALFORMED;
    // ERR_RANGE.
    int (*init)(struct controller *c, const char *params, usec_t now);
};

// All controllers; the last row has a NULL name.
extern const struct controller_kind controller_kinds[];

// Checks "NAME" or "NAME:PARAMS". Returns 0; ERR_NOT_FOUND; ERR_MALFORMED; ERR_RANGE;
// ERR_NO_MEMORY.
int controller_check(const char *name);
// Returns a new controller, owned by the caller, who releases it with free(); NULL: a bad name, or
// no memory.
struct controller *controller_new(const char *name, const struct controller_config *config,
                                  usec_t now);
// Changes the upper bound of the rate, > 0. A controller keeps it from the next media rate or
// report on.
void controller_set_max_rate(struct controller *c, double bps);

DECLS_END
#endif
