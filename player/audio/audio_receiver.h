// SPDX-License-Identifier: GPL-2.0-or-later
// The sound's RTP stream: which packets are of it, what is counted of them, where each stands in
// media time - it says so, or, from others than weir-send, sound_sync.h - and the receiver reports
// about it. Loop thread only.
#ifndef WEIR_PLAYER_AUDIO_AUDIO_RECEIVER_H
#define WEIR_PLAYER_AUDIO_AUDIO_RECEIVER_H

#include "common/protocol/rtp_receiver.h"
#include "common/wire/sdp.h"
#include "stream/audio/av_sync.h"
#include "stream/receive/rtcp_feedback.h"

#ifdef __cplusplus
extern "C" {
#endif

struct audio_output;

struct audio_receiver {
    const struct sdp *sdp;       // borrowed
    struct audio_output *player; // borrowed
    struct rtp_receiver receiver;
    struct rtcp_feedback feedback;
    int64_t reference; // a position that is near
    struct av_sync sync;
    uint64_t bytes;
    uint64_t malformed;
};

// `random`: as for the pictures' feedback, so that both are one receiver's (RFC 3550, 5.2).
void audio_receiver_init(struct audio_receiver *in, const struct sdp *sdp,
                         struct audio_output *player, uint64_t random);
// Takes what is of this stream. False: it is not.
bool audio_receiver_packet(struct audio_receiver *in, bool rtcp, const uint8_t *data, size_t len,
                           usec_t arrived);
// The pictures are here; positions are told modulo 2^32.
void audio_receiver_near(struct audio_receiver *in, usec_t media);
// The report of this second to `out` of RTCP_MAX_PACKET bytes; 0: nothing has come yet.
size_t audio_receiver_report(struct audio_receiver *in, uint8_t *out, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
