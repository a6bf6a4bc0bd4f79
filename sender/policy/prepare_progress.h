// SPDX-License-Identifier: GPL-2.0-or-later
// How far a long task is, and how long it still takes, as a line for people. Pure.
#ifndef WEIR_SENDER_POLICY_PREPARE_PROGRESS_H
#define WEIR_SENDER_POLICY_PREPARE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct prepare_progress {
    int64_t total;  // frames; 0 = not known
    int64_t before; // done by an earlier run
    usec_t began;
};

// "[#####-----]  50 %  123.4 frames/s  1:05 left", without the bar, or what of it is known, for
// `done` frames in all.
void prepare_progress_text(const struct prepare_progress *p, int64_t done, bool bar, char *out,
                           size_t cap, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
