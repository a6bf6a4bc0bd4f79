// SPDX-License-Identifier: GPL-2.0-or-later
// What a camera offers, and which of it to take. Pure.
//
// The choice, in this order:
//   1. a rate of at least half of what is asked for: below that, motion is worth more than pixels;
//   2. the size asked for; else the largest one that is nowhere larger; else the smallest;
//   3. the lowest rate that is no less than asked for; else the highest;
//   4. raw pixels before MJPEG, which costs decoding and quality.
#ifndef WEIR_MEDIA_CAPTURE_POLICY_CAPTURE_MODE_H
#define WEIR_MEDIA_CAPTURE_POLICY_CAPTURE_MODE_H

#include <stdbool.h>
#include <stddef.h>

#include "media/picture/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CAPTURE_MAX_MODES = 256 };

struct capture_format { // one row of a table
    char name[8];       // for people
    char libav[12];     // of libavdevice's input_format
    bool coded;
};

// One way the device works. A size or a rate that can be had in steps is a range.
struct capture_mode {
    const struct capture_format *format; // static
    int min_width, max_width, step_width;
    int min_height, max_height, step_height;
    struct fps slowest, fastest; // 0/1: not told
};

struct capture_choice {
    const struct capture_format *format;
    struct geometry given;
};

// False: there is no mode.
bool capture_choose(const struct capture_mode *modes, int count, struct geometry asked,
                    struct capture_choice *out);
// "30" or "29.97".
void capture_rate_text(struct fps fps, char *out, size_t cap);
// "MJPEG 1280x720@30 640x480@30,60; YUYV 640x480@30": what people can ask for. Cut short with
// "..." where it does not fit.
void capture_modes_text(const struct capture_mode *modes, int count, char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
