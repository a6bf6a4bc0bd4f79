// SPDX-License-Identifier: GPL-2.0-or-later
// Replaces the depacketiser, for one interpretation of Chung, Claypool and Kinicki 2005: a frame of
// which any packet arrived counts as a frame. In section IV-A, UDP keeps its level during seconds
// of overload, which is impossible if each lost packet loses a frame.
//
// A frame is complete with its last packet, or with the first packet of a later frame.
#ifndef WEIR_SIM_STREAM_PARTS_H
#define WEIR_SIM_STREAM_PARTS_H

#include "common/base/decls.h"
#include "common/wire/rtp.h"
#include "media/rtp/depacketiser.h"

DECLS_BEGIN

struct stream_parts {            // all zero to begin with
    bool open;                   // `frame` waits for further packets
    struct received_frame frame; // without data
};

// Call before a packet of frame `number`. Returns the frame that ends with it, owned by the caller;
// NULL: none, or no memory.
struct received_frame *stream_parts_before(struct stream_parts *s, int64_t number);
// Adds the packet of frame `number`. Returns the frame if this was its last packet; the caller owns
// it. NULL: not the last packet, or no memory.
struct received_frame *stream_parts_packet(struct stream_parts *s, const struct rtp_packet *p,
                                           int64_t number, usec_t now);

DECLS_END
#endif
