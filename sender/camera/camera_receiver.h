// SPDX-License-Identifier: GPL-2.0-or-later
// The media of an RTSP session with a camera, or with a client that publishes: what its receivers
// (stream_receiver.h) get becomes calls of camera_link_ops. The link has the receivers.
//
// Loop thread only, of any loop.
#ifndef WEIR_SENDER_CAMERA_CAMERA_RECEIVER_H
#define WEIR_SENDER_CAMERA_CAMERA_RECEIVER_H

#include "client/receive/stream_receiver.h"
#include "common/base/decls.h"
#include "sender/camera/camera_link.h"

DECLS_BEGIN

#define CAMERA_RECEIVER_KEEP USEC_PER_SEC // how long a missing packet is of use

struct camera_receiver; // opaque

struct camera_receiver_config {
    const struct sdp *sdp; // copied; it is live
    const struct camera_link_ops *ops;
    void *ctx; // borrowed; of `ops`
    // Of the link; required.
    void (*give_up)(void *link, const char *why, usec_t now); // the media cannot be taken
    void (*on_bye)(void *link, usec_t now); // the sender has ended its stream; NULL: not needed
    void *link;                             // borrowed
};

// NULL: no memory.
struct camera_receiver *camera_receiver_new(const struct camera_receiver_config *config);
void camera_receiver_free(struct camera_receiver *r); // after the receivers; NULL is fine

// Returns true if pictures in this description can be taken: live, or another server's.
bool camera_receiver_takes(const struct sdp *sdp);
// The description, the operations and their context, with which the link makes the receivers.
struct stream_receiver_config camera_receiver_media(struct camera_receiver *r);
// The link has made the receivers, which are borrowed; NULL: no memory. Calls on_described. Returns
// false without them.
bool camera_receiver_begin(struct camera_receiver *r, struct stream_receiver *media, usec_t now);

DECLS_END
#endif
