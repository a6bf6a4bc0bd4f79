// SPDX-License-Identifier: GPL-2.0-or-later
// A stream_media that passes the H.264 of an IP camera on, bit for bit, as its only level, or its
// main and sub stream as two (camera_pair.h). All viewers share the frames. A viewer begins with
// the frames since the last key frame, at once; without them it waits for the camera's next key
// frame, and so does one that changes the level. While one of two streams is away, the other one is
// sent at both levels.
#ifndef WEIR_SENDER_CAMERA_CAMERA_MEDIA_H
#define WEIR_SENDER_CAMERA_CAMERA_MEDIA_H

#include "common/base/decls.h"
#include "sender/camera/camera.h"
#include "server/session/stream_media.h"

DECLS_BEGIN

// Any thread. Takes over the cameras, even on failure. `sub`: the other stream of `main`, with its
// line; NULL: there is none. NULL: no memory (logged).
struct stream_media *camera_media_new(struct camera *main, struct camera *sub);

DECLS_END
#endif
