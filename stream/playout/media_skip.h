// SPDX-License-Identifier: GPL-2.0-or-later
// A skip in the playout buffer: the frames from the next one to before frame `to` are left out, one
// by one. Those that are whole are dropped, or decoded if frame `to` may depend on them; those that
// are missing are passed over.
#ifndef WEIR_STREAM_PLAYOUT_MEDIA_SKIP_H
#define WEIR_STREAM_PLAYOUT_MEDIA_SKIP_H

#include "common/base/decls.h"
#include "stream/playout/play_clock.h"

DECLS_BEGIN

// Returns the next step, or false if frame `to`, or a later one, is next.
bool media_skip_step(int64_t to, struct playout_buffer *b, struct clock_step *out);

DECLS_END
#endif
