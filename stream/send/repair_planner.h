// SPDX-License-Identifier: GPL-2.0-or-later
// Gives a viewer's repair (repair_sender.h) what it needs to know of the path: the fates of packets
// and, about once a frame, round trip, jitter and pace from the transport's info.
//
//   Fates.    From the transport, if it requests reports of each packet (RFC 8888); otherwise from
//             the viewer's requests (request_fates.h).
//   Pace.     A packet takes `gap` at the rate that the transport allows, 20 ms at most. A copy
//             waits for one packet and for what the transport holds unsent. The viewer notices a
//             loss with the next packet: feedback = gap + 3 ms.
//   Slack.    useful - age - delay, where age is the mean since the capture of the last frames: one
//             frame that was encoded slowly is no reason for parity.
//
// Pure.
#ifndef WEIR_STREAM_SEND_REPAIR_PLANNER_H
#define WEIR_STREAM_SEND_REPAIR_PLANNER_H

#include "common/base/decls.h"
#include "common/protocol/media_transport.h"
#include "common/repair/path_estimate.h"
#include "common/repair/repair_sender.h"

DECLS_BEGIN

struct request_fates;

struct repair_planner {
    struct media_transport *transport; // borrowed
    struct path_estimate path;
    struct request_fates *fates; // owned; NULL: the transport knows them
    usec_t age;                  // mean of the frames
    bool has_age;
};

struct repair_planner_frame { // a frame that is about to leave
    usec_t captured;
    usec_t useful;   // how long after its capture its packets may arrive
    usec_t interval; // between frames
    double bps;      // rate of the media
};

// Returns true if the transport reports the fate of each packet.
bool repair_planner_is_reported(const struct media_transport *transport);
// Returns 0, or ERR_NO_MEMORY.
int repair_planner_init(struct repair_planner *p, struct media_transport *transport);
void repair_planner_destroy(struct repair_planner *p);
// A video packet left for the first time; the viewer requests one.
void repair_planner_sent(struct repair_planner *p, uint16_t seq, usec_t now);
void repair_planner_requested(struct repair_planner *p, uint16_t seq);
// Tells `sender` the fates that became known, and has it plan for the frame.
void repair_planner_plan(struct repair_planner *p, struct repair_sender *sender,
                         const struct repair_planner_frame *frame, usec_t now);

DECLS_END
#endif
