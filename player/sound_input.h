// SPDX-License-Identifier: GPL-2.0-or-later
// The sound's RTP stream: which packets are of it, what is counted of them, where each stands in
// media time - it says so, or, from others than weir-send, sound_sync.h - and the receiver reports
// about it. Loop thread only.
#ifndef WEIR_PLAYER_SOUND_INPUT_H
#define WEIR_PLAYER_SOUND_INPUT_H

#include "common/protocol/rtp_receiver.h"
#include "common/wire/sdp.h"
#include "player/feedback.h"
#include "player/sound_sync.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sound_player;

struct sound_input {
    const struct sdp *sdp;       // borrowed
    struct sound_player *player; // borrowed
    struct rtp_receiver receiver;
    struct feedback feedback;
    int64_t reference; // a position that is near
    struct sound_sync sync;
    uint64_t bytes;
    uint64_t malformed;
};

// `random`: as for the pictures' feedback, so that both are one receiver's (RFC 3550, 5.2).
void sound_input_init(struct sound_input *in, const struct sdp *sdp, struct sound_player *player,
                      uint64_t random);
// Takes what is of this stream. False: it is not.
bool sound_input_packet(struct sound_input *in, bool rtcp, const uint8_t *data, size_t len,
                        usec_t arrived);
// The pictures are here; positions are told modulo 2^32.
void sound_input_near(struct sound_input *in, usec_t media);
// The report of this second to `out` of RTCP_MAX_PACKET bytes; 0: nothing has come yet.
size_t sound_input_report(struct sound_input *in, uint8_t *out, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
