// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers, temporal layers and dependencies of recorded frames, which a recording does not name.
//
// The times tell how many frames of the size are between two frames. A frame's layer follows from
// its number (level.h), as long as exactly the frames of the top layer are marked as not referenced
// (nal_ref_idc 0; RFC 6184, 1.3). From the first frame on that disagrees, up to the next key frame,
// each frame counts as one of the base layer that depends on the frame before it. Pure.
#ifndef WEIR_SERVER_REWIND_POLICY_PAST_NUMBERS_H
#define WEIR_SERVER_REWIND_POLICY_PAST_NUMBERS_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct past_numbers {
    struct fps source;
    struct size_spec size;
    int64_t at;                       // index of the newest frame within its size
    usec_t wall;                      // of the newest frame
    bool is_flat;                     // layers are not known
    int64_t newest[LEVEL_MAX_LAYERS]; // number of the newest frame of each layer; -1: none
};

struct past_number {
    int64_t number;
    int64_t depends_on; // -1: none
    int temporal_id;
};

// The first key frame gets a number from `next` on.
void past_numbers_init(struct past_numbers *n, const struct ladder *ladder, int size_id,
                       int64_t next);
// Gives the next frame its number. The first frame is a key frame.
struct past_number past_numbers_take(struct past_numbers *n, bool key, bool is_referenced,
                                     usec_t wall);

DECLS_END
#endif
