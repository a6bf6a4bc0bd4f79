// SPDX-License-Identifier: GPL-2.0-or-later
// A stream_media that passes the H.264 of an IP camera on, bit for bit, as its only level. All
// viewers share the frames. A viewer begins with the frames since the last key frame, at once;
// without them it waits for the camera's next key frame.
#ifndef WEIR_SENDER_CAMERA_CAMERA_MEDIA_H
#define WEIR_SENDER_CAMERA_CAMERA_MEDIA_H

#include "common/base/decls.h"
#include "sender/camera/camera.h"
#include "server/session/stream_media.h"

DECLS_BEGIN

// Any thread. Takes over `camera`, even on failure. NULL: no memory (logged).
struct stream_media *camera_media_new(struct camera *camera);

DECLS_END
#endif
