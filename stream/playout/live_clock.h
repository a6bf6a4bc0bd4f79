// SPDX-License-Identifier: GPL-2.0-or-later
// The clock of live media: neither a late frame nor a stall moves it. playout.h has the rules: a
// frame that comes after its time is shown at once; a missing one is passed over when it is due and
// the next one held has to be decoded, if a held frame can be decoded without it, or after
// LIVE_CLOCK_REPAIR.
#ifndef WEIR_STREAM_PLAYOUT_LIVE_CLOCK_H
#define WEIR_STREAM_PLAYOUT_LIVE_CLOCK_H

#include "common/base/decls.h"
#include "stream/playout/play_clock.h"

DECLS_BEGIN

#define LIVE_CLOCK_REPAIR (500 * USEC_PER_MSEC)

extern const struct play_clock_ops live_clock;

// The step at which frames are due as `line` says; c->media is not read.
struct clock_step live_clock_step(const struct play_clock *c, const struct media_clock *line,
                                  struct playout_buffer *b, const struct playout_front *front,
                                  bool stalled, usec_t now);

DECLS_END
#endif
