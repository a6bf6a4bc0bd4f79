// SPDX-License-Identifier: GPL-2.0-or-later
// Stats of a feed's encoders: of one size, and of the audio.
#ifndef WEIR_SERVER_STATS_LIVE_FEED_STATS_H
#define WEIR_SERVER_STATS_LIVE_FEED_STATS_H

#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "stream/send/repair_budget.h"

DECLS_BEGIN

struct live_feed_size_stats {
    uint64_t frames;
    uint64_t keys;
    uint64_t bytes;
    uint64_t overload; // pictures dropped because the encoder was busy
    usec_t busy;       // time spent on all frames
    double encode_ms;  // smoothed time per frame
    usec_t lowered;    // how long the feed, of all sizes, encoded less than viewers would get, as
                       // the machine did not keep up
    struct repair_counts repairs;
    int bitrate_bps; // that was last requested of the encoder
};

struct live_feed_audio_stats {
    uint64_t packets;
    uint64_t bytes;
    uint64_t overload; // pictures whose audio was dropped because the encoder was busy
    usec_t busy;       // time spent on all packets
};

DECLS_END
#endif
