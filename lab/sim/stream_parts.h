// SPDX-License-Identifier: GPL-2.0-or-later
// In place of the depacketiser, for one way to read Chung, Claypool and Kinicki 2005: a frame of
// which any packet came counts as a frame. Section IV-A has UDP keep its level through seconds of
// more than the line takes, which it cannot where each packet lost is a frame lost.
//
// A frame comes with its last packet, or else with the first packet of a later frame.
#ifndef WEIR_SIM_STREAM_PARTS_H
#define WEIR_SIM_STREAM_PARTS_H

#include "common/wire/rtp.h"
#include "media/rtp/depacketiser.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stream_parts {            // all zero to begin with
    bool open;                   // `frame` waits for more
    struct received_frame frame; // without data
};

// Before a packet of frame `number`: the frame that is over with it, the caller's; NULL: none, or
// no memory.
struct received_frame *stream_parts_before(struct stream_parts *s, int64_t number);
// The packet itself, of frame `number`: returns the frame if this was its
// last packet; the caller owns it. NULL: not its last packet, or no memory.
struct received_frame *stream_parts_packet(struct stream_parts *s, const struct rtp_packet *p,
                                           int64_t number, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
