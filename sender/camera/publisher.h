// SPDX-License-Identifier: GPL-2.0-or-later
// A client that publishes to this server, as a camera. It has two ends: its RTSP session is on the
// server's loop and gives its packets to the publisher; publisher_link_new makes a camera_link of
// them on the camera's loop. Packets between the two are bounded; more are dropped, as on a
// network.
#ifndef WEIR_SENDER_CAMERA_PUBLISHER_H
#define WEIR_SENDER_CAMERA_PUBLISHER_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/protocol/media_transport.h"
#include "sender/camera/camera_link.h"

DECLS_BEGIN

struct publisher; // opaque; reference-counted

struct publisher_config {
    uv_loop_t *loop;       // the server's; borrowed
    const char *name;      // for people, copied
    const struct sdp *sdp; // copied; a third party's
    // On that loop, until publisher_end. They must not end the publisher.
    void (*on_begun)(void *ctx, usec_t now);                 // a link takes its packets
    void (*on_over)(void *ctx, const char *why, usec_t now); // the link takes no more
    void (*send_rtcp)(void *ctx, enum media_track track, const uint8_t *data, size_t len);
    void *ctx; // borrowed
};

// ---- The server's loop

struct publisher *publisher_new(const struct publisher_config *config); // NULL: no memory
// Before the link is made: packets can get lost on their way.
void publisher_set_datagram(struct publisher *p, bool datagram);
// A packet arrived; `data` is copied. Without a link it is dropped.
void publisher_packet(struct publisher *p, enum media_track track, bool rtcp, const uint8_t *data,
                      size_t len, usec_t arrived);
// `next` continues the media: links take its packets from now on. Returns false if they cannot: it
// has another codec, or other kinds of media, or they have given up; nothing was done. The owner of
// `p` still calls publisher_end.
bool publisher_succeed(struct publisher *p, struct publisher *next);
// Ends the media, and drops the reference of publisher_new. `why`: it broke off, and why; NULL: it
// did not.
void publisher_end(struct publisher *p, const char *why);

// ---- Any thread

struct publisher *publisher_ref(struct publisher *p);
void publisher_unref(struct publisher *p); // NULL is fine
const char *publisher_name(const struct publisher *p);
// Returns the one that continues the media after the link's end, with a reference; NULL: none.
struct publisher *publisher_successor(struct publisher *p);

// ---- The camera's loop

struct publisher_link_config {
    struct publisher *publisher;       // the link takes a reference
    uv_loop_t *loop;                   // borrowed
    bool has_audio;                    // false: its audio is not wanted
    const struct camera_link_ops *ops; // static
    void *ctx;                         // borrowed
};
// At most one at a time. NULL: no memory.
struct camera_link *publisher_link_new(const struct publisher_link_config *config);

DECLS_END
#endif
