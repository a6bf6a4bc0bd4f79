// SPDX-License-Identifier: GPL-2.0-or-later
// The viewer's RTCP of one video stream: what the sender's compounds say, and which feedback is due
// when. RR and SDES are due once a second, NACK as soon as a hole is certain, PLI when the viewer
// needs a key frame: the last two only if the SDP says that the sender takes them (RFC 4585, 4.2).
#ifndef WEIR_STREAM_RECEIVE_RTCP_EXCHANGE_H
#define WEIR_STREAM_RECEIVE_RTCP_EXCHANGE_H

#include "stream/receive/rtcp_feedback.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rtcp_exchange {
    struct rtcp_feedback feedback; // the next compound: rtcp_feedback_compound
    bool takes_nack;               // the sender does
    bool takes_pli;                // the sender does
    uint64_t malformed;            // compounds
};

struct rtcp_received { // from one compound
    bool has_report;   // of the sender: RTP time `timestamp` is `ntp` on its wall clock
    uint64_t ntp;
    uint32_t timestamp;
    bool bye; // the stream ends
};

// `random` as rtcp_feedback_init has it.
void rtcp_exchange_init(struct rtcp_exchange *x, uint64_t random, bool takes_nack, bool takes_pli);
// A compound arrived. Ignores items of other sources, as the audio's RTCP takes the same path. A
// report is noted in `rtp`, whose next report block refers to it.
struct rtcp_received rtcp_exchange_compound(struct rtcp_exchange *x, struct rtp_receiver *rtp,
                                            const uint8_t *data, size_t len, usec_t arrived);
// A new packet of the stream arrived. Returns true if a NACK is due now.
bool rtcp_exchange_packet(struct rtcp_exchange *x, struct rtp_receiver *rtp);
// The viewer needs a key frame. Returns true if a PLI is due now; else the sender does not take it.
bool rtcp_exchange_need_key(struct rtcp_exchange *x);

#ifdef __cplusplus
}
#endif
#endif
