// SPDX-License-Identifier: GPL-2.0-or-later
// Live media whose viewers can go back: a stream_media that is also the consumer of another one. It
// keeps what that media gives to any viewer (past_ring.h), and each viewer has a rewind_feed.
//
// Of media that is encoded here it is no viewer: nothing is encoded for it, and there is no past of
// a time when no viewer watched. But it requests key frames (PAST_RING_KEYS), at which viewers
// begin. What a camera sends comes at all times; some make a key frame when they are asked.
#ifndef WEIR_SERVER_REWIND_REWIND_MEDIA_H
#define WEIR_SERVER_REWIND_REWIND_MEDIA_H

#include "common/base/decls.h"
#include "server/session/stream_media.h"

DECLS_BEGIN

struct rewind_media_config {
    usec_t span;        // > 0: how far viewers can go back in memory
    size_t bytes;       // > 0: max memory
    const char *record; // copied: the names of the recording of this media (record_name.h), in
                        // which viewers can go back further; NULL: none
    usec_t kept;        // how long recordings are kept; 0: for ever
    bool is_passed_on;  // the frames are a camera's: none is encoded here
};

// Takes over `of`, live media of H.264 that is encoded here or a camera's, even on failure. NULL:
// no memory (logged).
struct stream_media *rewind_media_new(struct stream_media *of,
                                      const struct rewind_media_config *config);

DECLS_END
#endif
