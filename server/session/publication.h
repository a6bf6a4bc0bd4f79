// SPDX-License-Identifier: GPL-2.0-or-later
// What a client publishes to a path of this server (RTSP's ANNOUNCE and RECORD): its media goes in
// here. A catalog makes it (catalog_ops.publish); the client's RTSP session owns it. Loop thread
// only.
#ifndef WEIR_SERVER_SESSION_PUBLICATION_H
#define WEIR_SERVER_SESSION_PUBLICATION_H

#include "common/base/decls.h"
#include "common/protocol/media_transport.h"
#include "common/wire/sdp.h"

DECLS_BEGIN

struct publication;

// Of the owner; all are required, and none may end the publication inside the call.
struct publication_events {
    void (*on_begun)(void *ctx, usec_t now); // after `begin`: media is taken from now on
    // The last call: the media is no longer taken. `why`: for people.
    void (*on_over)(void *ctx, const char *why, usec_t now);
    void (*send_rtcp)(void *ctx, enum media_track track, const uint8_t *data, size_t len);
};

struct publication_ops {
    // Opens the path for viewers; call it once. `datagram`: packets can get lost.
    void (*begin)(struct publication *p, bool datagram, usec_t now);
    // A packet arrived, after on_begun.
    void (*packet)(struct publication *p, enum media_track track, bool rtcp, const uint8_t *data,
                   size_t len, usec_t arrived);
    // Ends the path's stream, and frees the publication. `why`: it broke off; NULL: it did not.
    void (*end)(struct publication *p, const char *why, usec_t now);
};

struct publication { // embedded first by each implementation
    const struct publication_ops *ops;
};

struct publication_config {
    const struct sdp *sdp;                   // copied; a third party's
    const struct publication_events *events; // static
    void *ctx;                               // borrowed
};

DECLS_END
#endif
