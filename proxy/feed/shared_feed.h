// SPDX-License-Identifier: GPL-2.0-or-later
// One viewer's feed of an origin's live stream. Its frames come from the flows that all viewers of
// the stream share (shared_upstream.h), through a bridge of its own (access_leg.h).
//
//   PLAY    waits for the origin's answer, if the flow does not play yet. The viewer starts at the
//           flow's next key frame, which the proxy requests.
//   Level   The viewer gets its level of the flow of that size (level_choice.h); it changes to
//           another size at the key frame of that flow (flow_viewer.h).
//   Pause   The viewer leaves its flow.
//   Limits  What its access cannot carry is reflected to the origin as flow_demand.h says; the
//           rest is dropped in the viewer's own queue.
//
// Loop thread only.
#ifndef WEIR_PROXY_FEED_SHARED_FEED_H
#define WEIR_PROXY_FEED_SHARED_FEED_H

#include "common/base/decls.h"
#include "proxy/feed/shared_stream.h"

DECLS_BEGIN

struct shared_feed_config {
    const struct relay_origin *origin; // these pointers are borrowed
    struct frame_sink *sink;
    struct shared_stream *stream;
};

struct media_feed *shared_feed_new(const struct shared_feed_config *config); // NULL: no memory

DECLS_END
#endif
