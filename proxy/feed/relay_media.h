// SPDX-License-Identifier: GPL-2.0-or-later
// A stream_media of an origin's stream. Of live media all viewers share the sessions with the
// origin (shared_feed.h), of stored media each viewer has one of its own (relay_feed.h). Loop
// thread only.
#ifndef WEIR_PROXY_FEED_RELAY_MEDIA_H
#define WEIR_PROXY_FEED_RELAY_MEDIA_H

#include "common/base/decls.h"
#include "common/wire/url.h"
#include "proxy/feed/relay_choices.h"
#include "server/session/stream_media.h"

DECLS_BEGIN

struct relay_media_config {
    const struct relay_choices *choices; // borrowed
    const struct url *url;               // copied: the stream at the origin
    const struct sdp *sdp;               // copied: the origin's description
    const char *via;                     // copied: value of the Via header for the origin
    struct store_film *film; // held by the media: what comes is stored there; NULL: it is not
};

// Returns 0; ERR_UNSUPPORTED: the stream has no frames; ERR_MALFORMED: it has no levels;
// ERR_NO_MEMORY.
int relay_media_new(const struct relay_media_config *config, struct stream_media **out);
// Returns true if a session with the origin failed: its description may have changed since.
bool relay_media_is_stale(const struct stream_media *m);
// Returns true if a session with the origin goes on without viewers, for some seconds: the media
// should be kept for those that come back.
bool relay_media_is_open(const struct stream_media *m);

DECLS_END
#endif
