// SPDX-License-Identifier: GPL-2.0-or-later
// A viewer's feedback to the sender: compounds of RR and SDES (RFC 3550, 6.1), followed by NACK,
// PLI (RFC 4585, 3.5.1: early feedback in a compound), TMMBR (RFC 5104, 4.2.1) or BYE.
#ifndef WEIR_STREAM_RECEIVE_RTCP_FEEDBACK_H
#define WEIR_STREAM_RECEIVE_RTCP_FEEDBACK_H

#include "common/base/decls.h"
#include "common/protocol/rtp_receiver.h"

DECLS_BEGIN

struct rtcp_feedback {
    uint32_t ssrc;  // our own SSRC
    char cname[64]; // chosen at random for each session (RFC 7022, 4.2)
    // Contents of the next compound:
    int nack_count;
    struct rtcp_nack nacks[RTCP_MAX_NACKS];
    bool pli;
    bool limits;      // requests `max_bps`
    uint64_t max_bps; // bit/s, without the headers below RTP
    bool bye;
};

void rtcp_feedback_init(struct rtcp_feedback *f, uint64_t random);
// Writes a compound to `out` and clears the pending contents. Returns its length in bytes.
size_t rtcp_feedback_compound(struct rtcp_feedback *f, struct rtp_receiver *r, uint8_t *out,
                              size_t cap, usec_t now);

DECLS_END
#endif
