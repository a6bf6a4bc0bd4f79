// SPDX-License-Identifier: GPL-2.0-or-later
// A viewer for pictures that another program decodes: when did which frame of the source come, and
// how near was what stood on the screen to the frame that should have? It measures with weir-play's
// own code, so that its figures and those of weir-play --picture-events are of one kind.
//
// In: raw pictures, YUV 4:2:0 planar, of the source's size, with the test picture's strip
// (media/pattern/pattern_strip.h). Each counts as shown when its last byte came. Out, a JSON object
// a line:
//
//   {"event":"frame","number":12,"shown":104.2,"read":true}  CLOCK_MONOTONIC seconds
//   {"event":"picture","number":12,"shown":12,"ssim":0.97}   as weir-play writes it
//   {"event":"end","pictures":900,"unreadable":0,"repeated":3,"skipped":0}
//
// `read`: its number could be read; else it is broken, and the number about right (numbering.h).
// A picture that is not newer than the one before (repeated) is nothing new.
#ifndef WEIR_LAB_WATCH_WATCH_H
#define WEIR_LAB_WATCH_WATCH_H

#include <stdio.h>

#include "media/source/source.h"

#ifdef __cplusplus
extern "C" {
#endif

// Until `in` ends. Takes over `source`. 0, or ERR_NO_MEMORY, ERR_IO (logged).
int watch_run(struct source *source, FILE *in, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
