// SPDX-License-Identifier: GPL-2.0-or-later
// Lists the modes of a V4L2 camera (VIDIOC_ENUM_FMT, _FRAMESIZES, _FRAMEINTERVALS).
#ifndef WEIR_MEDIA_CAPTURE_V4L2_MODES_H
#define WEIR_MEDIA_CAPTURE_V4L2_MODES_H

#include "common/base/decls.h"
#include "media/capture/policy/capture_mode.h"

DECLS_BEGIN

// Lists the modes whose format Weir can read, at most CAPTURE_MAX_MODES, and copies the camera's
// `name`. Returns their number; ERR_NOT_FOUND if there is no such device; ERR_UNSUPPORTED if it is
// not a camera; ERR_IO with the reason in errno.
int v4l2_modes(const char *path, char *name, size_t cap,
               struct capture_mode out[CAPTURE_MAX_MODES]);

DECLS_END
#endif
