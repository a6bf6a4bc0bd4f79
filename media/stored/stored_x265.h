// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes a group of a stored size in HEVC: libx265 through libavcodec, with the preset medium.
//
// The plan's layers are those of x265's own pattern with one B frame between two P frames: no frame
// depends on a B frame, and P frames depend on P frames alone. So there are two layers at most.
// With more B frames x265 keeps B frames of the higher layers among the references that it
// announces for P frames, and a viewer without those layers would miss them.
#ifndef WEIR_MEDIA_STORED_STORED_X265_H
#define WEIR_MEDIA_STORED_STORED_X265_H

#include "common/base/decls.h"
#include "media/coded/coded_frame.h"
#include "media/picture/picture.h"
#include "media/stored/policy/stored_plan.h"
#include "media/stored/policy/stored_rate.h"

DECLS_BEGIN

enum { STORED_X265_LAYERS = 2 }; // max.

struct stored_x265 { // a group of one size
    const struct ladder *ladder;
    const struct stored_plan *plan;
    const struct stored_shape *shape;
    int size_id;
};

// Returns true if this libavcodec can encode HEVC with libx265.
bool stored_x265_is_usable(void);
// As stored_encoder_run, once, at the quantisers of `rate`. Returns 0, ERR_NO_MEMORY or ERR_IO
// (logged); after an error `out` may have frames.
int stored_x265_run(const struct stored_x265 *e, const struct stored_rate *rate,
                    struct picture *const pictures[], struct coded_frame *out[]);

DECLS_END
#endif
