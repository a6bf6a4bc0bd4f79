// SPDX-License-Identifier: GPL-2.0-or-later
// The clock of media that is held ahead (a film, and live media of third parties): due(n) = anchor
// + pts(n) at speed 1. playout.h has the rules: what is awaited may come one interval late, after
// which the buffer ran empty; the clock stands until `goal` of media is held, and goes on with the
// first frame held.
#ifndef WEIR_STREAM_PLAYOUT_FILM_CLOCK_H
#define WEIR_STREAM_PLAYOUT_FILM_CLOCK_H

#include "common/base/decls.h"
#include "stream/playout/play_clock.h"

DECLS_BEGIN

#define FILM_CLOCK_MAX_GRACE (100 * USEC_PER_MSEC)

extern const struct play_clock_ops film_clock;

DECLS_END
#endif
