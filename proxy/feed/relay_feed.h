// SPDX-License-Identifier: GPL-2.0-or-later
// One viewer's feed of an origin's stored stream: a session with the origin (upstream.h), its
// frames through the bridge (access_leg.h), and the viewer's requests towards the origin. Of live
// streams see shared_feed.h.
//
//   PLAY    waits for the origin's answer: media_feed_ops.place returns MEDIA_WAITS, and then the
//           origin's place or its refusal. The session with the origin begins with the first PLAY.
//   Pause   pauses the origin, too. Frames that the viewer did not get are given again when it
//           continues.
//   Outage  As origin_life.h says. Meanwhile the viewer keeps its session. The media continues at
//           its position. Frame numbers continue (number_shift.h).
//
// Loop thread only.
#ifndef WEIR_PROXY_FEED_RELAY_FEED_H
#define WEIR_PROXY_FEED_RELAY_FEED_H

#include "common/base/decls.h"
#include "proxy/feed/relay_origin.h"
#include "proxy/store/store.h"

DECLS_BEGIN

struct relay_feed_config {
    const struct relay_origin *origin; // these pointers are borrowed
    struct frame_sink *sink;
    bool exact;              // as media_feed_config says
    struct store_film *film; // what comes is stored there; NULL: it is not
};

struct media_feed *relay_feed_new(const struct relay_feed_config *config); // NULL: no memory

DECLS_END
#endif
