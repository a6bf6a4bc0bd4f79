// SPDX-License-Identifier: GPL-2.0-or-later
// Low latency: live media without a clock. Every frame is due when it is whole, and the next one is
// expected one interval after the last one left. There is nothing to skip, and no audio that
// follows.
#ifndef WEIR_STREAM_PLAYOUT_IMMEDIATE_CLOCK_H
#define WEIR_STREAM_PLAYOUT_IMMEDIATE_CLOCK_H

#include "common/base/decls.h"
#include "stream/playout/play_clock.h"

DECLS_BEGIN

extern const struct play_clock_ops immediate_clock;

DECLS_END
#endif
