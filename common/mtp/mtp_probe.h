// SPDX-License-Identifier: GPL-2.0-or-later
// Tests how a path treats a hole in the sequence, in one round trip before there is media.
//
//   The flight: slots 0, 2, 3, 0 again and 4, all empty packets; 1 is left out, 3 and 4 are
//   replacements (MTP_R), so a viewer acknowledges 0, reports 2, and then acknowledges past the
//   hole. The loss of any one of them does not change the answer.
//   The answer:  over the hole: data after a hole and its acknowledgements pass;
//                up to the hole, and a slot beyond it reported (SACK): the acknowledging end, or a
//                box that forwards acknowledgements, does not accept holes: a terminating proxy,
//                or a firewall that relies on its own count;
//                up to the hole and no more: data after a hole is held back or dropped;
//                nothing at all: a property of the path, not of holes.
//   "Over the hole" is known at once. The other answers are final half a round trip and 50 ms after
//   the last news, and at most 500 ms after the beginning. Then slot 1 is sent, which closes the
//   gap.
//
// The probe requires nothing of the viewer that it does not do for media.
#ifndef WEIR_MTP_MTP_PROBE_H
#define WEIR_MTP_MTP_PROBE_H

#include "common/base/decls.h"
#include "common/mtp/mtp_sender.h"

DECLS_BEGIN

enum {
    MTP_PROBE_HOLE = 1,
    MTP_PROBE_SLOTS = 5, // with the hole; media begins at this slot
};

enum mtp_probe_answer {
    MTP_PROBE_OVER,
    MTP_PROBE_BEYOND,
    MTP_PROBE_UP_TO,
    MTP_PROBE_NOTHING,
};

struct mtp_probe {
    int sent;           // number of packets of the flight that were sent
    usec_t began_at;    // valid once a packet is sent
    usec_t rtt;         // time to the first acknowledgement; 0: none came
    usec_t until;       // when the wait for acknowledgements ends
    struct mtp_ack ack; // the acknowledgement with the highest cumulative slot
};

void mtp_probe_init(struct mtp_probe *p);
// Returns the flight's next packet; false: all are sent.
bool mtp_probe_pull(struct mtp_probe *p, struct mtp_out *out, usec_t now);
// Processes an acknowledgement; ignores an impossible one. Returns true if the answer is known.
bool mtp_probe_ack(struct mtp_probe *p, const struct mtp_ack *ack, usec_t now);
// When the answer is final without further acknowledgements; USEC_NEVER before the first pull.
usec_t mtp_probe_next_timeout(const struct mtp_probe *p);
enum mtp_probe_answer mtp_probe_result(const struct mtp_probe *p);

DECLS_END
#endif
