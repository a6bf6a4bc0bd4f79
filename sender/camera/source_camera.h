// SPDX-License-Identifier: GPL-2.0-or-later
// The pictures of an IP camera, decoded, as a source for encoders (--transcode); without its audio.
// Pictures are put on a constant grid (frame_grid.h); while the camera is away a card says so.
#ifndef WEIR_SENDER_CAMERA_SOURCE_CAMERA_H
#define WEIR_SENDER_CAMERA_SOURCE_CAMERA_H

#include "common/base/decls.h"
#include "media/source/source.h"
#include "sender/camera/camera.h"

DECLS_BEGIN

// Any thread. Takes over `camera`, even on failure. NULL: no memory, or
// its pictures cannot be decoded (logged).
struct source *source_camera_new(struct camera *camera);

DECLS_END
#endif
