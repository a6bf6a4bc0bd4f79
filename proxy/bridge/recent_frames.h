// SPDX-License-Identifier: GPL-2.0-or-later
// The newest frames of a flow. A viewer that joins at a key frame gets from here those that depend
// on it and came before it, as repair brought the key frame late. Pure.
#ifndef WEIR_PROXY_BRIDGE_RECENT_FRAMES_H
#define WEIR_PROXY_BRIDGE_RECENT_FRAMES_H

#include "common/base/decls.h"
#include "proxy/bridge/shared_frame.h"

DECLS_BEGIN

enum { RECENT_FRAMES = 64 };

struct recent_frames { // recent_frames.c alone reads and writes the fields
    unsigned added;
    struct shared_frame *frames[RECENT_FRAMES]; // one reference each; NULL: none
};

void recent_frames_add(struct recent_frames *r, struct shared_frame *f); // takes a reference
// Writes the frames after `number`, in the order in which they came, to `out`; borrowed until the
// next call. Returns how many.
int recent_frames_after(const struct recent_frames *r, int64_t number,
                        struct shared_frame *out[RECENT_FRAMES]);
void recent_frames_clear(struct recent_frames *r);

DECLS_END
#endif
