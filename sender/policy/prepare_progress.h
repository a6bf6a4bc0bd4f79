// SPDX-License-Identifier: GPL-2.0-or-later
// Formats the progress and the remaining time of a long task for the user. Pure.
#ifndef WEIR_SENDER_POLICY_PREPARE_PROGRESS_H
#define WEIR_SENDER_POLICY_PREPARE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct prepare_progress {
    int64_t total;  // frames; 0 = unknown
    int64_t before; // frames done by an earlier run
    usec_t began;   // when this run began
};

// Writes "[#####-----]  50 %  123.4 frames/s  1:05 left" for `done` frames, including earlier runs.
// Unknown parts are omitted, and the bar unless `bar` is true.
void prepare_progress_text(const struct prepare_progress *p, int64_t done, bool bar, char *out,
                           size_t cap, usec_t now);

DECLS_END
#endif
