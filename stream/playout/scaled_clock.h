// SPDX-License-Identifier: GPL-2.0-or-later
// Another scale of the play than 1 (RFC 2326, 12.34): the sender chooses the frames that it sends.
// The next frame is the next one held; if it comes after its time, all later ones are due as much
// later. None is missed, and the buffer is never empty.
#ifndef WEIR_STREAM_PLAYOUT_SCALED_CLOCK_H
#define WEIR_STREAM_PLAYOUT_SCALED_CLOCK_H

#include "common/base/decls.h"
#include "stream/playout/play_clock.h"

DECLS_BEGIN

// In place of the step of the clock that was chosen, whose other operations go on.
struct clock_step scaled_clock_step(struct play_clock *c, struct playout_buffer *b, bool stalled,
                                    usec_t goal, usec_t now);

DECLS_END
#endif
