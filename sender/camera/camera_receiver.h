// SPDX-License-Identifier: GPL-2.0-or-later
// The RTP end of a camera_link: its packets become whole pictures and audio packets
// (video_receiver.h, audio_receiver.h), and calls of camera_link_ops. The link has the transport.
//
// Loop thread only, of any loop.
#ifndef WEIR_SENDER_CAMERA_CAMERA_RECEIVER_H
#define WEIR_SENDER_CAMERA_CAMERA_RECEIVER_H

#include <uv.h>

#include "common/repair/repair_policy.h"
#include "sender/camera/camera_link.h"

#ifdef __cplusplus
extern "C" {
#endif

struct camera_receiver; // opaque

struct camera_receiver_config {
    uv_loop_t *loop;       // borrowed
    const struct sdp *sdp; // copied; it is live
    uint64_t random;       // for SSRC and CNAME
    const struct camera_link_ops *ops;
    void *ctx; // borrowed; of `ops`
    // Of the link; required.
    void (*send_rtcp)(void *link, bool audio, const uint8_t *data, size_t len);
    void (*give_up)(void *link, const char *why, usec_t now); // the media cannot be taken
    void (*on_bye)(void *link, usec_t now); // the sender has ended its stream; NULL: not needed
    int64_t (*ecn_marked)(void *link);      // as struct video_receiver_config says
    void *link;                             // borrowed
};

// Calls on_described. NULL: no memory.
struct camera_receiver *camera_receiver_new(const struct camera_receiver_config *config,
                                            usec_t now);
void camera_receiver_free(struct camera_receiver *r); // NULL is fine

// Returns true if pictures in this description can be taken: live, or another server's.
bool camera_receiver_takes(const struct sdp *sdp);
// The transport is known. `agreed`: how the sender repairs lost packets.
void camera_receiver_set_up(struct camera_receiver *r, bool datagram, enum repair_mode agreed,
                            usec_t rtt, usec_t now);
void camera_receiver_set_rtt(struct camera_receiver *r, usec_t rtt, usec_t now);
void camera_receiver_add_audio(struct camera_receiver *r); // the audio of `sdp` comes, too
// A packet arrived. `audio`: in the flow of the audio, if that has its own.
void camera_receiver_packet(struct camera_receiver *r, bool audio, bool rtcp, const uint8_t *data,
                            size_t len, usec_t arrived, usec_t now);
// The operations of struct camera_link_kind.
void camera_receiver_second(struct camera_receiver *r, usec_t now);
void camera_receiver_request_key(struct camera_receiver *r, usec_t now);
void camera_receiver_relate(struct camera_receiver *r, uint32_t rtp_timestamp, usec_t media,
                            usec_t arrived);

#ifdef __cplusplus
}
#endif
#endif
