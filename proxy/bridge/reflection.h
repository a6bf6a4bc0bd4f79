// SPDX-License-Identifier: GPL-2.0-or-later
// Reflects the rate of the access into the backbone, so that what exceeds it is not sent at all
// (Fiksdal's thesis, 2003, sections 3.6 and 7.4), and the queue for the viewer stays short.
//
//   The law. queue: the age of the oldest frame that waits, the time that the transport's unsent
//   bytes take if something has waited for 125 ms, and the excess of the access's round trip over
//   its min of a minute. rate: what the
//   access delivered in the last second, or, if that is more, since something waits; the highest of
//   the last second. It stands until something waits again for 125 ms, or the access delivers more.
//     - From a queue of target / 2 on:  limit = rate * (1 - (queue - target) / 1 s).
//     - Below it there is no limit; one that was in force rises until it ends.
//     - A limit rises by at most 10 % in two round trips of the backbone, or 0.5 s if that is more:
//       origin and encoder take so long to follow. It ends at 1.25 times the rate that the viewer
//       asked for. It is never below the rate of the lowest level.
//     - Of media that the origin encodes, the limit is at most what the adaptation of the access
//       leaves (stream/adapt): it sees a queue 20 ms long, in the network too. While that has seen
//       no lack, the access is no limit, whatever level the viewer has.
//
//   How the origin receives it.
//     limit     as a max rate of the media, so without what the access carries beside it (headers,
//               repair), when it differs by 3 % from the last one: a lower one at once, a higher
//               one once a round trip. Its end is sent, too
//     marks     when the media of the last round trip exceeds the limit: the packets that exceed it
//               are to be reported as marked; one event a round trip at most. An excess of 15 %
//               over what the adaptation leaves causes none: frames vary so, and TFRC takes seconds
//               to recover from an event
//     blocking  nothing is read from the backbone from when the access has no room to when a part
//               of its buffer is free (thesis, section 6.8). Meanwhile no report leaves, and what
//               exceeds a receive buffer of 64 KB is lost (udp_socket_hold), as it was there: the
//               origin's controller notices
//
// Pure.
#ifndef WEIR_PROXY_BRIDGE_REFLECTION_H
#define WEIR_PROXY_BRIDGE_REFLECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"
#include "common/base/windowed_min.h"

DECLS_BEGIN

enum reflect_reason { REFLECT_BY_QUEUE, REFLECT_BY_ADAPTATION };
enum reflect_mode { REFLECT_LIMIT, REFLECT_MARKS, REFLECT_BLOCKING, REFLECT_OFF };

// The state of the access.
struct reflect_access {
    usec_t waiting;         // age of the oldest waiting frame; 0: none waits
    double waiting_bytes;   // of these frames
    double unsent_bytes;    // that the transport has accepted and not sent
    double carried_bps;     // what the access's adaptation leaves; INFINITY: it sees no lack, NaN:
                            // there is none
    double wanted_bps;      // rate of the media that the viewer asked for
    double overhead_bps;    // headers and repair, which the access carries beside the media
    double delivered_bytes; // that the viewer's end has confirmed, since the start
    usec_t rtt;             // of the access now; 0: unknown
    double free;            // REFLECT_BLOCKING: part of the transport's buffer that is free, 0 .. 1
};

enum { REFLECT_SLOTS = 64 }; // of 1/32 s

struct reflect_slot {
    double delivered; // bytes, at the slot's end
    double rate_bps;  // that was measured at the slot's end; 0: not known
};

struct reflection { // reflection.c alone writes the fields
    enum reflect_mode mode;
    usec_t target;
    double blocking;
    double lowest_bps; // rate of the lowest level
    usec_t rtt;

    struct reflect_slot slots[REFLECT_SLOTS];
    int64_t slot;       // newest; -1: none
    int64_t first_slot; // oldest with a value
    int64_t busy_since; // slot since which something waits; -1: nothing waits
    double rate_bps;    // 0: unknown
    usec_t queue;
    struct windowed_min least_rtt; // of the access

    double law_bps;   // by the queue; 0: no limit
    double limit_bps; // with what the adaptation leaves, of all that the access carries; 0: none
    enum reflect_reason reason; // of limit_bps
    usec_t updated_at;
    double sent_bps; // the max rate that the origin knows; 0: none
    usec_t sent_at;

    double arrived_bytes; // since `arrived_since`
    usec_t arrived_since;
    bool stopped;
};

void reflection_init(struct reflection *r, enum reflect_mode mode, usec_t target, double blocking,
                     const struct ladder *ladder, usec_t now);
// The session with the origin is a new one, which knows no limit: one that is in force is sent.
void reflection_origin_forgot(struct reflection *r);
void reflection_set_rtt(struct reflection *r, usec_t rtt); // of the backbone; 0: unknown
// Media of `bytes` came from the backbone.
void reflection_arrived(struct reflection *r, size_t bytes);

struct reflect_orders {
    bool sends_limit; // REFLECT_LIMIT: send `limit_bps` to the origin
    double limit_bps; // of the media; 0: none
    int marks;        // REFLECT_MARKS: packets to be reported as marked
    bool sends_stop;  // REFLECT_BLOCKING: `stop` changed
    bool stop;
};

struct reflect_orders reflection_update(struct reflection *r, const struct reflect_access *access,
                                        usec_t now);
// Returns true if the last update found nothing that waits and no limit is in force. Then updates
// may be rarer: nothing changes before the next frames.
bool reflection_is_idle(const struct reflection *r);

DECLS_END
#endif
