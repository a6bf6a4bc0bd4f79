// SPDX-License-Identifier: GPL-2.0-or-later
// What a path does to a hole in the sequence, asked in one round trip before there is media.
//
//   The flight: slots 0, 2, 3, 0 again and 4, all empty packets; 1 is left out, 3 and 4 are
//   replacements (MTP_R), so a viewer acknowledges 0, reports 2, and then goes over the hole. Any
//   one of them may get lost without changing the answer.
//   The answer:  over the hole: data after a hole and its acknowledgements pass;
//                up to the hole, and a slot beyond it reported (SACK): who acknowledges, or passes
//                acknowledgements on, does not go over holes: a terminating proxy, or a firewall
//                that believes in its own count;
//                up to the hole and no more: what follows a hole is held back or dropped;
//                nothing at all: that tells of the path, not of holes.
//   Over the hole it is known at once; else half a round trip and 50 ms after the last news, and
//   500 ms after the beginning at the latest. Then slot 1 is sent, and the sequence has no gap.
//
// Nothing is asked for that the viewer does not do anyway.
#ifndef WEIR_MTP_MTP_PROBE_H
#define WEIR_MTP_MTP_PROBE_H

#include "common/mtp/mtp_sender.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MTP_PROBE_HOLE = 1,
    MTP_PROBE_SLOTS = 5, // with the hole; what follows begins here
};

enum mtp_probe_answer {
    MTP_PROBE_OVER,
    MTP_PROBE_BEYOND,
    MTP_PROBE_UP_TO,
    MTP_PROBE_NOTHING,
};

struct mtp_probe {
    int sent;           // packets of the flight
    usec_t began_at;    // once one is sent
    usec_t rtt;         // to the first acknowledgement; 0: none came
    usec_t until;       // no answer any more
    struct mtp_ack ack; // the one that tells most
};

void mtp_probe_init(struct mtp_probe *p);
// The flight's next packet. False: all are sent.
bool mtp_probe_pull(struct mtp_probe *p, struct mtp_out *out, usec_t now);
// True: the answer is known. An acknowledgement that cannot be is not believed.
bool mtp_probe_ack(struct mtp_probe *p, const struct mtp_ack *ack, usec_t now);
// When the answer is known without any more of them; USEC_NEVER before the first pull.
usec_t mtp_probe_next_timeout(const struct mtp_probe *p);
enum mtp_probe_answer mtp_probe_result(const struct mtp_probe *p);

#ifdef __cplusplus
}
#endif
#endif
