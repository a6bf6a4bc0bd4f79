// SPDX-License-Identifier: GPL-2.0-or-later
// Tells the sender when each packet of a datagram transport came and how it was marked (RFC 8888):
// the protocol's receiver on a timer. Loop thread only.
#ifndef WEIR_PLAYER_RECEIVE_MEDIA_FEEDBACK_H
#define WEIR_PLAYER_RECEIVE_MEDIA_FEEDBACK_H

#include <uv.h>

#include "common/net/udp_socket.h"
#include "common/protocol/datagram_receiver.h"
#include "common/wire/rtp.h"

#ifdef __cplusplus
extern "C" {
#endif

struct media_feedback; // opaque

struct media_feedback_config {
    uv_loop_t *loop;        // borrowed
    struct rtp_ext_ids ext; // under which the sender announced its extensions
    uint32_t ssrc;          // ours
    uint32_t media_ssrc;    // that reports of numbers in the flow go by (RTP's feedback extension)
    void (*send)(void *ctx, const uint8_t *data, size_t len); // a report
    void *ctx;                                                // borrowed
};

struct media_feedback *media_feedback_new(const struct media_feedback_config *config,
                                          usec_t now); // NULL: logged
void media_feedback_free(struct media_feedback *f);    // NULL is fine
// A datagram came on the port for RTP; what is not RTP is skipped.
void media_feedback_packet(struct media_feedback *f, const struct datagram *d);
uint64_t media_feedback_marked(const struct media_feedback *f); // packets with the CE mark so far

#ifdef __cplusplus
}
#endif
#endif
