// SPDX-License-Identifier: GPL-2.0-or-later
// Measures how good the levels of an encoded group look: the mean SSIM (quality.h) of what a viewer
// of the level sees during one frame in the middle of the group, against the source at the size of
// the ladder's largest pictures. So both the smaller size and the lower frame rate of a level
// count: its frame is enlarged, and is still shown at the times of the frames that the level lacks.
//
// The frame is one of the base layer, which is decoded for it. One thread at a time.
#ifndef WEIR_MEDIA_STORED_STORED_QUALITY_H
#define WEIR_MEDIA_STORED_STORED_QUALITY_H

#include "common/base/decls.h"
#include "common/wire/sdp.h"
#include "media/coded/coded_frame.h"
#include "media/picture/picture.h"
#include "media/stored/policy/stored_plan.h"

DECLS_BEGIN

struct stored_quality; // opaque

// Borrows the ladder. Returns NULL on failure, which it logs.
struct stored_quality *stored_quality_new(const struct ladder *ladder, enum sdp_codec codec);
void stored_quality_free(struct stored_quality *q); // NULL is fine
// `pictures`: of the source, by place; `coded`: of each size, by place. Writes the SSIM of each
// level; a size that passes (level.h) is the source itself. Returns 0, ERR_MALFORMED or
// ERR_NO_MEMORY.
int stored_quality_measure(struct stored_quality *q, const struct stored_shape *shape,
                           struct picture *const pictures[],
                           struct coded_frame *coded[LADDER_MAX_SIZES][STORED_MAX_GOP],
                           double ssim[LADDER_MAX_LEVELS]);

DECLS_END
#endif
