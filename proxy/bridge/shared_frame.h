// SPDX-License-Identifier: GPL-2.0-or-later
// A frame that came from an origin, for all viewers of its flow: what the backbone said of it, and
// the frame that is sent on, whose bytes the viewers share. Reference-counted; loop thread only.
// Pure.
#ifndef WEIR_PROXY_BRIDGE_SHARED_FRAME_H
#define WEIR_PROXY_BRIDGE_SHARED_FRAME_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/coded/coded_frame.h"
#include "media/rtp/depacketiser.h"

DECLS_BEGIN

struct shared_frame {
    int references;
    struct received_frame head; // without its bytes
    struct coded_frame *coded;  // owned; NULL: no sender can take the frame
};

// Takes over `f`. `is_annexb` and `captured`: see relayed_frame_new. NULL: no memory.
struct shared_frame *shared_frame_new(struct received_frame *f, const struct ladder *ladder,
                                      bool is_annexb, usec_t captured);
struct shared_frame *shared_frame_ref(struct shared_frame *s);
void shared_frame_unref(struct shared_frame *s); // NULL is fine
// Returns the frame to send to a viewer that is served this level: one reference, for the caller.
// NULL: no memory. `s` has a coded frame.
struct coded_frame *shared_frame_at(const struct shared_frame *s, int level);

DECLS_END
#endif
