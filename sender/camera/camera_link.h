// SPDX-License-Identifier: GPL-2.0-or-later
// One RTSP session with an IP camera: the viewing end of RTSP (rtsp_link.h) and of its media
// (video_receiver.h, audio_receiver.h). Whole frames and audio packets come out. Media comes over
// the RTSP connection; over UDP if the camera refuses that.
//
// Why not libavformat's RTSP client: it knows a frame's end only by the next frame, so everything
// is a frame later; it passes frames with lost packets on as if they were whole; and it reads a
// description of any length. This client is the player's, which has all of that.
//
// Loop thread only, of any loop.
#ifndef WEIR_SENDER_CAMERA_CAMERA_LINK_H
#define WEIR_SENDER_CAMERA_CAMERA_LINK_H

#include <uv.h>

#include "client/receive/audio_receiver.h"
#include "common/wire/url.h"
#include "media/rtp/depacketiser.h"

#ifdef __cplusplus
extern "C" {
#endif

struct camera_link;

// All are required. They must not free the link.
struct camera_link_ops {
    void (*on_described)(void *ctx, const struct sdp *sdp,
                         usec_t now); // `sdp`: for the link's life
    // A packet of the pictures arrived, which may lack its predecessors.
    void (*on_stamp)(void *ctx, uint32_t rtp_timestamp, usec_t now);
    void (*on_frame)(void *ctx, struct received_frame *f, usec_t now); // takes over the frame
    void (*on_audio)(void *ctx, const struct received_audio *a, usec_t now);
    // A sender report: the camera's wall clock at an RTP time stamp.
    void (*on_report)(void *ctx, usec_t wall, uint32_t rtp_timestamp);
    // The last call. `status`: of the camera's refusal; 0: none.
    void (*on_end)(void *ctx, int status, const char *why, usec_t now);
};

struct camera_link_config {
    uv_loop_t *loop;                   // borrowed
    const struct url *url;             // borrowed for the call
    bool has_audio;                    // false: the camera is not asked for its audio
    bool keeps_alive_in_turn;          // an earlier session expired (camera_link_expired)
    const struct camera_link_ops *ops; // static
    void *ctx;                         // borrowed
};

struct camera_link *camera_link_new(const struct camera_link_config *config,
                                    usec_t now);          // NULL: no memory
void camera_link_free(struct camera_link *l, usec_t now); // NULL is fine; not inside a callback
// Call it about once a second: reports to the camera.
void camera_link_second(struct camera_link *l, usec_t now);
// Requests a key frame, if the camera's description says that it takes such requests.
void camera_link_request_key(struct camera_link *l, usec_t now);
// Ends the session for a reason of the caller: on_end follows.
void camera_link_give_up(struct camera_link *l, const char *why, usec_t now);
// Call it in on_end. Returns true if the camera seems to have let the session expire although it
// was kept alive.
bool camera_link_expired(const struct camera_link *l);
// The media time of a picture, to which the audio's is related.
void camera_link_picture(struct camera_link *l, uint32_t rtp_timestamp, usec_t media,
                         usec_t arrived);

#ifdef __cplusplus
}
#endif
#endif
