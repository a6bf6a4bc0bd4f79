// SPDX-License-Identifier: GPL-2.0-or-later
// Decides whether the H.264 of a film can be sent as it is, as the top level (coded_video.h), by
// its properties and by its first access units in decoding order.
//
//   The law. A viewer can join only at an IDR, frames are numbered by the ticks of a constant rate,
//   and the picture is shown as it was coded. So a film passes if
//     - it is H.264 with 8 bits and 4:2:0, progressive, upright, with square pixels and even sides,
//       and neither larger nor faster than the levels can be;
//     - its first access unit is an IDR, and another follows within PASS_GROUP_SECONDS each. A key
//       frame that is no IDR (an open group) is none: pictures before it need the group before;
//     - each tick has one frame, within a quarter of the interval.
//
// Pure.
#ifndef WEIR_MEDIA_CODED_PASS_CHECK_H
#define WEIR_MEDIA_CODED_PASS_CHECK_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/coded/coded_video.h"

DECLS_BEGIN

enum { PASS_GROUP_SECONDS = 12 }; // x264's default is 250 frames

enum pass_verdict {
    PASS_YES,
    PASS_OTHER_CODEC,
    PASS_OTHER_FORMAT, // of the samples
    PASS_INTERLACED,
    PASS_TURNED,
    PASS_OTHER_PIXELS, // not square
    PASS_OTHER_SIZE,   // odd, too small or too large
    PASS_NO_IDR,
    PASS_OPEN_GROUPS,
    PASS_LONG_GROUPS,
    PASS_NO_TIMES,
    PASS_HIDDEN,
    PASS_FAST, // more frames a second than any level has
    PASS_VARYING_RATE,
    PASS_BROKEN,    // an access unit that is none, or is too large
    PASS_LOW_RATE,  // than that of the lowest level (ladder_pass)
    PASS_HIGH_RATE, // than the user allows
    PASS_VERDICTS,
};

struct pass_video {
    bool is_h264;
    bool is_420; // with 8 bits
    bool is_interlaced;
    bool is_upright; // neither rotated nor mirrored
    bool is_square;
    int width, height; // pixels
    struct fps fps;
    bool is_fast; // the container names a higher rate than `fps`, the highest of a level
};

struct pass_frame {
    struct coded_unit_facts unit;
    bool is_whole;  // `unit` is known
    bool is_key;    // the container calls it a key frame
    bool is_hidden; // it is decoded, but not shown
    bool has_time;
    double time; // in frame intervals since the first frame that is shown
    size_t bytes;
};

struct pass_check {
    struct fps fps;
    enum pass_verdict verdict;
    bool reorders;
    bool has_open_key; // since the last IDR
    int64_t count;     // of frames
    int64_t idr;       // number of the last IDR
    int64_t complete;  // all ticks before this one have a frame
    uint64_t later;    // bit i: so has tick `complete` + i
    double window[4];  // bytes of the last seconds
    int64_t second;    // of window[0]
    double most_bytes; // of four seconds in a row
    double bytes;
};

void pass_check_init(struct pass_check *c, const struct pass_video *v);
// Judges the next access unit. Returns false if no further one changes the verdict.
bool pass_check_add(struct pass_check *c, const struct pass_frame *f);
// Returns the verdict on what was added. *bitrate_bps: what a network has to carry, the mean of the
// four busiest seconds; 0: nothing was added.
enum pass_verdict pass_check_end(const struct pass_check *c, int *bitrate_bps);
// Returns why a film does not pass, which continues "its video is encoded again: "; NULL: it does.
const char *pass_check_reason(enum pass_verdict verdict);

DECLS_END
#endif
