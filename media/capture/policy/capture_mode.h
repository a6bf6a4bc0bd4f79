// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses one of the modes that a camera offers. Pure.
//
// Criteria, in this order:
//   1. a rate of at least half the requested one: below that, motion is worth more than pixels;
//   2. the requested size; else the largest size within it; else the smallest;
//   3. the lowest rate that is at least the requested one; else the highest;
//   4. raw pixels before MJPEG, which costs decoding and quality.
#ifndef WEIR_MEDIA_CAPTURE_POLICY_CAPTURE_MODE_H
#define WEIR_MEDIA_CAPTURE_POLICY_CAPTURE_MODE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "media/picture/geometry.h"

DECLS_BEGIN

enum { CAPTURE_MAX_MODES = 256 };

struct capture_format { // one row of a table
    char name[8];       // shown to the user
    char libav[12];     // value of libavdevice's option input_format
    bool coded;         // compressed, such as MJPEG
};

// One mode of the device. If a size or rate can be chosen in steps, the mode holds its range.
struct capture_mode {
    const struct capture_format *format; // static
    int min_width, max_width, step_width;
    int min_height, max_height, step_height;
    struct fps slowest, fastest; // 0/1: unknown
};

struct capture_choice {
    const struct capture_format *format;
    struct geometry given;
};

// Returns false if `count` is 0.
bool capture_choose(const struct capture_mode *modes, int count, struct geometry requested,
                    struct capture_choice *out);
// Writes "30" or "29.97".
void capture_rate_text(struct fps fps, char *out, size_t cap);
// Writes "MJPEG 1280x720@30 640x480@30,60; YUYV 640x480@30" for the user. Text that does not fit is
// replaced by "...".
void capture_modes_text(const struct capture_mode *modes, int count, char *out, size_t cap);

DECLS_END
#endif
