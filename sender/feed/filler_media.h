// SPDX-License-Identifier: GPL-2.0-or-later
// A stream_media of packets without frames (filler.h): the sender makes them, so this has no feed
// of its own.
#ifndef WEIR_SENDER_FEED_FILLER_MEDIA_H
#define WEIR_SENDER_FEED_FILLER_MEDIA_H

#include "common/base/decls.h"
#include "server/session/stream_media.h"

DECLS_BEGIN

// SDP_SOURCE_STEADY sends at `bitrate_bps`. SDP_SOURCE_GREEDY sends as fast as the transport
// allows, and at `bitrate_bps` if the transport has no rate of its own. NULL: no memory.
struct stream_media *filler_media_new(enum sdp_source kind, int bitrate_bps);

DECLS_END
#endif
