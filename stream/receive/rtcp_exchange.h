// SPDX-License-Identifier: GPL-2.0-or-later
// The viewer's RTCP of one video stream: reads the sender's compounds, and decides when feedback is
// due. RR and SDES are due once a second, NACK when a packet is missed (repair_receiver.h), PLI
// when the viewer needs a key frame, TMMBR (a max rate) once a second until the sender confirms it
// (TMMBN; RFC 5104, 4.2.1.2). They are sent only if the SDP announces that the sender accepts them
// (RFC 4585, 4.2; RFC 5104, 7.1).
#ifndef WEIR_STREAM_RECEIVE_RTCP_EXCHANGE_H
#define WEIR_STREAM_RECEIVE_RTCP_EXCHANGE_H

#include "common/base/decls.h"
#include "stream/receive/repair_receiver.h"
#include "stream/receive/rtcp_feedback.h"

DECLS_BEGIN

struct rtcp_exchange {
    struct rtcp_feedback feedback; // contents of the next compound (rtcp_feedback_compound)
    bool takes_nack;               // the sender does
    bool takes_pli;                // the sender does
    bool takes_limit;              // the sender takes TMMBR
    bool unconfirmed;              // a max rate was requested, and no TMMBN has come since
    uint64_t malformed;            // malformed compounds
};

struct rtcp_received { // contents of one compound
    bool has_report;   // a sender report: RTP time `timestamp` is `ntp` on the sender's wall clock
    uint64_t ntp;
    uint32_t timestamp;
    uint32_t packets; // that the sender has sent
    bool bye;         // the stream ends
};

// Requested of the sender instead of no limit: TMMBR cannot take a limit back.
#define RTCP_EXCHANGE_NO_LIMIT 4000000000u // bit/s

// `random`: see rtcp_feedback_init.
void rtcp_exchange_init(struct rtcp_exchange *x, uint64_t random, bool takes_nack, bool takes_pli,
                        bool takes_limit);
// A compound arrived. Ignores items of other sources, as the audio's RTCP takes the same path.
// Records a sender report in `rtp`, whose next report block refers to it.
struct rtcp_received rtcp_exchange_compound(struct rtcp_exchange *x, struct rtp_receiver *rtp,
                                            const uint8_t *data, size_t len, usec_t arrived);
// Takes the packets that are to be requested now. Returns true if a NACK is due now; send it, and
// call again: there may be more than a compound takes.
bool rtcp_exchange_requests(struct rtcp_exchange *x, struct repair_receiver *repair, usec_t now);
// The viewer needs a key frame. Returns true if a PLI is due now; false: the sender does not accept
// PLI.
bool rtcp_exchange_need_key(struct rtcp_exchange *x);
// The sender shall send at most `bps` bit/s; 0: no limit. Returns true if a TMMBR is due now;
// false: the sender does not accept TMMBR.
bool rtcp_exchange_limit(struct rtcp_exchange *x, uint64_t bps);
// Call it before the compound of each second.
void rtcp_exchange_second(struct rtcp_exchange *x);

DECLS_END
#endif
