// SPDX-License-Identifier: GPL-2.0-or-later
// The flows of a live stream, one a size, and how many viewers watch it. Loop thread only.
#ifndef WEIR_PROXY_FEED_SHARED_STREAM_H
#define WEIR_PROXY_FEED_SHARED_STREAM_H

#include "common/base/decls.h"
#include "proxy/feed/shared_upstream.h"

DECLS_BEGIN

struct shared_stream; // opaque

// `origin` is borrowed. NULL: no memory.
struct shared_stream *shared_stream_new(const struct relay_origin *origin);
void shared_stream_free(struct shared_stream *s); // no viewer watches; NULL is fine
struct shared_upstream *shared_stream_flow(struct shared_stream *s, int size_id);
// A viewer starts (+1) or stops (-1) watching.
void shared_stream_watch(struct shared_stream *s, int change);
int shared_stream_viewers(const struct shared_stream *s);
// Returns true if a flow has a session with the origin, even without viewers.
bool shared_stream_is_open(const struct shared_stream *s);

DECLS_END
#endif
