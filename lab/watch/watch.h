// SPDX-License-Identifier: GPL-2.0-or-later
// A viewer for pictures that another program decodes: it reports when each frame of the source
// arrived, and how similar the picture on the screen was to the frame that should be there. It
// measures with weir-play's own code, so its results and those of weir-play --picture-events are
// comparable.
//
// Input: raw pictures, YUV 4:2:0 planar, of the source's size, with the test picture's strip
// (media/pattern/pattern_strip.h). A picture counts as shown when its last byte has arrived.
// Output: one JSON object per line:
//
//   {"event":"frame","number":12,"shown":104.2,"read":true}  CLOCK_MONOTONIC seconds
//   {"event":"picture","number":12,"shown":12,"ssim":0.97}   as in weir-play
//   {"event":"end","pictures":900,"unreadable":0,"repeated":3,"skipped":0}
//
// `read`: true if its number could be read; false: it is broken, and the number is estimated
// (numbering.h). A picture that is not newer than the previous one counts only as repeated.
#ifndef WEIR_LAB_WATCH_WATCH_H
#define WEIR_LAB_WATCH_WATCH_H

#include <stdio.h>

#include "common/base/decls.h"
#include "media/source/source.h"

DECLS_BEGIN

// Runs until `in` ends. Takes ownership of `source`. Returns 0, ERR_NO_MEMORY or ERR_IO (logged).
int watch_run(struct source *source, FILE *in, FILE *out);

DECLS_END
#endif
