// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the ladder of levels for a source (see common/base/level.h for what a ladder is).
#ifndef WEIR_MEDIA_CODED_LADDER_H
#define WEIR_MEDIA_CODED_LADDER_H

#include "common/base/level.h"

#ifdef __cplusplus
extern "C" {
#endif

// One `--level WxH@FPS:KBPS`.
struct level_request {
    int width;
    int height;
    struct fps fps; // "29.97", "30000/1001" and "30" are read
    int bitrate_bps;
};

// 0, ERR_MALFORMED, or ERR_RANGE: sizes 64x36 .. 4096x2304 and even, rate 1 .. 120, 8 .. 100000
// kbit/s.
int level_request_parse(const char *text, struct level_request *out);

// The default: seven levels out of four sizes (144p, 240p, 360p, 720p) with `layers` temporal
// layers each (2 or 3), at 80, 120, 240, 320, 640, 960 and 1920 kbit/s; widths keep
// the source's shape; the first size above the source's gives way to the source's own, those beyond
// are left out. 0 or ERR_RANGE.
int ladder_default(int source_width, int source_height, struct fps source_fps, int layers,
                   struct ladder *out);

// From requests: those of one size and shape whose rates are the top rate over 1, 2 or 4 share an
// encoder as its temporal layers; others get their own. 0; ERR_RANGE (a rate above the source's,
// too many levels or sizes; logged with what to do).
int ladder_from_requests(const struct level_request *requests, int count, int source_width,
                         int source_height, struct fps source_fps, int layers, struct ladder *out);

#ifdef __cplusplus
}
#endif
#endif
