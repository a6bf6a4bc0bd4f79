// SPDX-License-Identifier: GPL-2.0-or-later
// One RTSP session with an IP camera: the viewing end of RTSP (rtsp_link.h) and of its media
// (video_receiver.h, audio_receiver.h). Media comes over the RTSP connection; over UDP if the
// camera refuses that.
//
// Why not libavformat's RTSP client: it knows a frame's end only by the next frame, so everything
// is a frame later; it passes frames with lost packets on as if they were whole; and it reads a
// description of any length. This client is the player's, which has all of that.
//
// Loop thread only, of any loop.
#ifndef WEIR_SENDER_CAMERA_RTSP_CAMERA_H
#define WEIR_SENDER_CAMERA_RTSP_CAMERA_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/wire/url.h"
#include "sender/camera/camera_link.h"

DECLS_BEGIN

struct rtsp_camera_config {
    uv_loop_t *loop;                   // borrowed
    const struct url *url;             // borrowed for the call
    bool has_audio;                    // false: the camera is not asked for its audio
    bool keeps_alive_in_turn;          // an earlier session expired (rtsp_camera_expired)
    const struct camera_link_ops *ops; // static
    void *ctx;                         // borrowed
};

struct camera_link *rtsp_camera_new(const struct rtsp_camera_config *config,
                                    usec_t now); // NULL: no memory
// Call it in on_end. Returns true if the camera seems to have let the session expire although it
// was kept alive.
bool rtsp_camera_expired(const struct camera_link *l);

DECLS_END
#endif
