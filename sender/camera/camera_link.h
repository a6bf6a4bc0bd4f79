// SPDX-License-Identifier: GPL-2.0-or-later
// Where a camera's media comes from, for one connection: whole frames and audio packets come out.
// There are three kinds: an RTSP session with an IP camera (rtsp_camera.h), the writer of a pipe
// (pipe_link.h), and a client that publishes to this server (publisher.h).
//
// Loop thread only, of any loop.
#ifndef WEIR_SENDER_CAMERA_CAMERA_LINK_H
#define WEIR_SENDER_CAMERA_CAMERA_LINK_H

#include "client/receive/audio_receiver.h"
#include "common/base/decls.h"
#include "media/rtp/depacketiser.h"

DECLS_BEGIN

// All are required. They must not free the link.
struct camera_link_ops {
    // `sdp`: for the link's life. Its codec, frame rate, parameter sets and audio count.
    // `audio_codec`: the name of its audio's, static; NULL: it has none.
    void (*on_described)(void *ctx, const struct sdp *sdp, const char *audio_codec, usec_t now);
    // A packet of the pictures arrived, which may lack its predecessors.
    void (*on_stamp)(void *ctx, uint32_t rtp_timestamp, usec_t now);
    void (*on_frame)(void *ctx, struct received_frame *f, usec_t now); // takes over the frame
    void (*on_audio)(void *ctx, const struct received_audio *a, usec_t now);
    // A sender report: the camera's wall clock at an RTP time stamp.
    void (*on_report)(void *ctx, usec_t wall, uint32_t rtp_timestamp);
    // The last call. `status`: of the camera's refusal; 0: none. `why`: for people; NULL: the media
    // has ended.
    void (*on_end)(void *ctx, int status, const char *why, usec_t now);
};

struct camera_link;

struct camera_link_kind {
    void (*free)(struct camera_link *l, usec_t now); // not inside a callback
    // Call it about once a second: reports to the camera.
    void (*second)(struct camera_link *l, usec_t now);
    // Requests a key frame, if the camera takes such requests.
    void (*request_key)(struct camera_link *l, usec_t now);
    // Ends the session for a reason of the caller: on_end follows.
    void (*give_up)(struct camera_link *l, const char *why, usec_t now);
    // The media time of a picture, to which the audio's is related.
    void (*picture)(struct camera_link *l, uint32_t rtp_timestamp, usec_t media, usec_t arrived);
};

struct camera_link {                     // embedded first by each kind
    const struct camera_link_kind *kind; // static; all of it is required
};

DECLS_END
#endif
