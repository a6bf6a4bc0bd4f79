// SPDX-License-Identifier: GPL-2.0-or-later
// What a V4L2 camera offers (VIDIOC_ENUM_FMT, _FRAMESIZES, _FRAMEINTERVALS).
#ifndef WEIR_MEDIA_CAPTURE_V4L2_MODES_H
#define WEIR_MEDIA_CAPTURE_V4L2_MODES_H

#include "media/capture/policy/capture_mode.h"

#ifdef __cplusplus
extern "C" {
#endif

// Formats that we can read, CAPTURE_MAX_MODES modes at most. Their number; ERR_NOT_FOUND: there is
// no such device; ERR_UNSUPPORTED: it is no camera; ERR_IO: errno says why.
int v4l2_modes(const char *path, char *name, size_t cap,
               struct capture_mode out[CAPTURE_MAX_MODES]);

#ifdef __cplusplus
}
#endif
#endif
