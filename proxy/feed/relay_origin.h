// SPDX-License-Identifier: GPL-2.0-or-later
// A stream of an origin, as all sessions with the origin see it.
#ifndef WEIR_PROXY_FEED_RELAY_ORIGIN_H
#define WEIR_PROXY_FEED_RELAY_ORIGIN_H

#include <uv.h>

#include "common/base/decls.h"
#include "proxy/feed/relay_choices.h"
#include "proxy/feed/upstream.h"
#include "server/session/stream_media.h"

DECLS_BEGIN

struct relay_origin {
    uv_loop_t *loop; // these pointers are borrowed
    const struct stream_media *media;
    const struct relay_choices *choices;
    const struct url *url;
    const struct sdp *sdp; // the origin's description
    const char *via;
    usec_t described_at; // when the origin has described it
    bool *stale; // set if a session with the origin fails; of live media cleared when one plays
};

// Returns what a session is given whoever makes it. `is_first`: no session of that feed has played:
// a fresh description is used. All that is not the origin's is 0, `speed` 1.
struct upstream_config relay_origin_session(const struct relay_origin *o, bool is_first,
                                            usec_t now);

DECLS_END
#endif
