// SPDX-License-Identifier: GPL-2.0-or-later
// Measures what an excerpt of a film needs at several quantisers: the bit rate and the SSIM
// (stored_quality.h) of each level of a ladder. The excerpt is short, and x264 encodes it with a
// fast preset. A group has one key frame, as the excerpt has: the rate is that of a full group
// whose other frames are like those of the excerpt. One thread.
#ifndef WEIR_MEDIA_STORED_STORED_PROBE_H
#define WEIR_MEDIA_STORED_STORED_PROBE_H

#include "common/base/decls.h"
#include "media/picture/picture.h"
#include "media/stored/policy/stored_plan.h"

DECLS_BEGIN

struct stored_probe; // opaque

struct stored_probe_result { // by level; 0 and 1 of a size that passes (level.h)
    double bps[LADDER_MAX_LEVELS];
    double ssim[LADDER_MAX_LEVELS];
};

// Borrows the ladder and its plan. Returns NULL on failure, which it logs.
struct stored_probe *stored_probe_new(const struct ladder *ladder, const struct stored_plan *plan);
void stored_probe_free(struct stored_probe *p); // NULL is fine
// `pictures`: of the source, so many as the plan's period or a multiple of it, at most a group.
// Writes a result for each of the `count` quantisers. Returns 0, ERR_NO_MEMORY, ERR_MALFORMED or
// ERR_IO (logged).
int stored_probe_run(struct stored_probe *p, struct picture *const pictures[], int frames,
                     const double quants[], int count, struct stored_probe_result results[]);

DECLS_END
#endif
