// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the ladder of levels for a source (see common/base/level.h for what a ladder is).
#ifndef WEIR_MEDIA_CODED_LADDER_H
#define WEIR_MEDIA_CODED_LADDER_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/coded/encode_limit.h"

DECLS_BEGIN

// One `--level WxH@FPS:KBPS`.
struct level_request {
    int width;
    int height;
    struct fps fps; // parsed from "29.97", "30000/1001" or "30"
    int bitrate_bps;
};

// Returns 0, ERR_MALFORMED or ERR_RANGE. Ranges: even sizes 64x36 .. 4096x2304 or 2304x4096, 1 ..
// 120 frames/s, 8 .. 100000 kbit/s.
int level_request_parse(const char *text, struct level_request *out);

// Makes the default ladder. Up to 1280x720 at 30 frames/s it has seven levels of four sizes (the
// shorter side has 144, 240, 360 and 720 pixels) with `layers` temporal layers each (2 or 3), at
// 80, 120, 240, 320, 640, 960 and 1920 kbit/s. With one layer it has those at the sizes' full
// frame rates: 120, 320, 960 and 1920 kbit/s. The source's own size replaces the first size above
// it; larger sizes are omitted. All sizes have the source's shape.
//
// A larger or faster source adds its own size at its own rate, of at most 120 frames/s, as the top;
// without the top layer that is a level, too, if it has 20 frames/s or more. Bitrates grow as the
// pixels to the power of 3/4 and as the root of the frame rate: 1920x1080 has 3530 kbit/s at 30 and
// 4990 at 60 frames/s. `limit` (NULL: none) may allow less: then the top is the source's size at
// up to 30 frames/s, or its shorter side has 1440 or 1080 pixels. The seven levels have no limit.
// Returns 0 or ERR_RANGE.
int ladder_default(int source_width, int source_height, struct fps source_fps, int layers,
                   const struct encode_limit *limit, struct ladder *out);

// Makes the source's own coded video of `bitrate_bps` the top (level.h, `passes`). Of the levels of
// `ladder`, which is ladder_default's, those with up to three quarters of that rate stay. Returns
// 0; ERR_RANGE: none would stay, and the ladder is unchanged.
int ladder_pass(struct ladder *ladder, int bitrate_bps);

// Makes a ladder from requests. Requests of one size share an encoder, as its temporal layers, if
// their frame rates are the top rate divided by 1, 2 or 4; other requests get their own encoder.
// Each size has at least `layers` temporal layers; with 1, each request gets its own encoder, of
// one layer. Returns 0, or ERR_RANGE (logged) if a rate exceeds the source's or there are too many
// levels or sizes.
int ladder_from_requests(const struct level_request *requests, int count, int source_width,
                         int source_height, struct fps source_fps, int layers, struct ladder *out);

// Makes the ladder of a cumulative encoder (vp9_encoder.h): three sizes, each half as wide and high
// as the next, with three temporal layers each. Each pair of a size and a temporal id is a level,
// whose bitrate is that of all smaller sizes and lower temporal ids too; the top level's is
// `bitrate_bps`. Returns 0, or ERR_RANGE (a source below 256x144, or a bitrate below 100 kbit/s or
// above 100 Mbit/s).
int ladder_cumulative(int source_width, int source_height, struct fps source_fps, int bitrate_bps,
                      struct ladder *out);
// Makes the same ladder for a source and the level that was requested as its top, with the
// request's size, frame rate and bitrate. NULL: the source's size and at most 30 frames/s,
// within 1920x1080 or 1080x1920; 1920
// kbit/s for 1280x720, and for other sizes as the pixels to the power of 3/4. Returns 0, or
// ERR_RANGE (logged if the request exceeds the source's rate).
int ladder_cumulative_of(const struct level_request *top, int source_width, int source_height,
                         struct fps source_fps, struct ladder *out);

DECLS_END
#endif
