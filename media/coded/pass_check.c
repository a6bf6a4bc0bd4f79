// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/pass_check.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum {
    MIN_SIDE = 64,
    MAX_LONG = 4096,
    MAX_SHORT = 2304,
    WINDOW = 4, // seconds
    AHEAD = 64, // bits of `later`
};

static const double JITTER = 0.25; // of a frame interval

static enum pass_verdict verdict_on(const struct pass_video *v)
{
    int longer = v->width > v->height ? v->width : v->height;
    int shorter = v->width > v->height ? v->height : v->width;
    if (!v->is_h264)
        return PASS_OTHER_CODEC;
    if (!v->is_420)
        return PASS_OTHER_FORMAT;
    if (v->is_interlaced)
        return PASS_INTERLACED;
    if (!v->is_upright)
        return PASS_TURNED;
    if (!v->is_square)
        return PASS_OTHER_PIXELS;
    if (v->is_fast)
        return PASS_FAST;
    bool fits = shorter >= MIN_SIDE && longer <= MAX_LONG && shorter <= MAX_SHORT;
    return !fits || v->width % 2 || v->height % 2 ? PASS_OTHER_SIZE : PASS_YES;
}

void pass_check_init(struct pass_check *c, const struct pass_video *v)
{
    *c = (struct pass_check){.fps = v->fps, .verdict = verdict_on(v)};
}

static void add_bytes(struct pass_check *c, size_t bytes)
{
    int64_t second = c->count * c->fps.den / c->fps.num;
    if (second > c->second) {
        memmove(c->window + 1, c->window, sizeof(c->window) - sizeof(*c->window));
        c->window[0] = 0;
        c->second = second;
    }
    c->window[0] += (double)bytes;
    c->bytes += (double)bytes;
    double sum = 0;
    for (int i = 0; i < WINDOW; i++)
        sum += c->window[i];
    c->most_bytes = fmax(c->most_bytes, sum);
}

// Enters the frame of a tick. Returns false if the tick has one, or one before it has none for too
// long.
static bool enter(struct pass_check *c, int64_t tick)
{
    int64_t ahead = tick - c->complete;
    if (ahead < 0 || ahead >= AHEAD || c->later >> ahead & 1)
        return false;
    c->later |= UINT64_C(1) << ahead;
    while (c->later & 1) {
        c->later >>= 1;
        c->complete++;
    }
    return true;
}

static enum pass_verdict judge(struct pass_check *c, const struct pass_frame *f)
{
    if (!f->is_whole)
        return PASS_BROKEN;
    if (f->is_hidden)
        return PASS_HIDDEN;
    if (!f->has_time)
        return PASS_NO_TIMES;
    if (c->count == 0 && !f->unit.idr)
        return PASS_NO_IDR;
    if (!(fabs(f->time) < (double)(INT64_C(1) << 40)) || fabs(f->time - round(f->time)) > JITTER)
        return PASS_VARYING_RATE;
    int64_t tick = llround(f->time), reorder = c->count - tick;
    if (f->unit.idr && (reorder || c->later)) // all frames before it have been decoded
        return PASS_VARYING_RATE;
    // H.264 has at most 16 frames between the orders (A.3.1, max_dec_frame_buffering): more are
    // gaps.
    if (reorder < -CODED_VIDEO_MAX_REORDER || reorder > CODED_VIDEO_MAX_REORDER || !enter(c, tick))
        return PASS_VARYING_RATE;
    c->reorders |= reorder != 0;
    if (f->unit.idr) {
        c->idr = tick;
        c->has_open_key = false;
    }
    c->has_open_key |= f->is_key && !f->unit.idr;
    if ((tick - c->idr) * c->fps.den > (int64_t)PASS_GROUP_SECONDS * c->fps.num)
        return c->has_open_key ? PASS_OPEN_GROUPS : PASS_LONG_GROUPS;
    return PASS_YES;
}

bool pass_check_add(struct pass_check *c, const struct pass_frame *f)
{
    if (c->verdict == PASS_YES)
        c->verdict = judge(c, f);
    if (c->verdict != PASS_YES)
        return false;
    add_bytes(c, f->bytes);
    c->count++;
    return true;
}

enum pass_verdict pass_check_end(const struct pass_check *c, int *bitrate_bps)
{
    double seconds = fmin(WINDOW, (double)c->count * c->fps.den / c->fps.num);
    double bps = c->count ? 8 * c->most_bytes / seconds : 0;
    *bitrate_bps = bps < INT_MAX ? (int)bps : INT_MAX;
    return c->verdict == PASS_YES && !c->count ? PASS_NO_IDR : c->verdict;
}

const char *pass_check_reason(enum pass_verdict verdict)
{
    static const char *const reasons[PASS_VERDICTS] = {
        [PASS_OTHER_CODEC] = "it is not H.264",
        [PASS_OTHER_FORMAT] = "its samples are not of 8 bits and 4:2:0",
        [PASS_INTERLACED] = "it is interlaced",
        [PASS_TURNED] = "it is to be shown rotated or mirrored",
        [PASS_OTHER_PIXELS] = "its pixels are not square",
        [PASS_OTHER_SIZE] = "its size is odd, or not within 64x64 to 4096x2304",
        [PASS_NO_IDR] = "it does not begin with an IDR picture",
        [PASS_OPEN_GROUPS] = "its groups of pictures are open (closed ones of at most 12 s pass)",
        [PASS_LONG_GROUPS] = "its groups of pictures are longer than 12 s",
        [PASS_NO_TIMES] = "its container has no times for the pictures (MP4 and Matroska do)",
        [PASS_HIDDEN] = "it is cut between key frames: an edit list hides pictures",
        [PASS_FAST] = "it has more than 120 frames/s",
        [PASS_VARYING_RATE] = "its frame rate varies",
        [PASS_BROKEN] = "it has pictures that cannot be read",
        [PASS_LOW_RATE] = "its bitrate is below those of the other levels",
        [PASS_HIGH_RATE] = "its bitrate is above that of --passthrough-rate",
    };
    return reasons[verdict];
}
