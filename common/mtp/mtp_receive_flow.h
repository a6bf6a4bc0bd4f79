// SPDX-License-Identifier: GPL-2.0-or-later
// The receiving end of an MTP flow for media: records in, payloads out, each once and without
// delay.
//
// Acknowledgements follow TCP (RFC 5681, 4.2): at once for each second packet, after 40 ms for a
// single one, as in Linux. A packet at or after a hole, a duplicate and a replacement are
// acknowledged at once. So the sender's packets leave in pairs, like those of competing TCPs;
// single packets would find room in a full queue more often.
#ifndef WEIR_MTP_MTP_RECEIVE_FLOW_H
#define WEIR_MTP_MTP_RECEIVE_FLOW_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/mtp/mtp_receiver.h"
#include "common/wire/mtp_record.h"

DECLS_BEGIN

enum mtp_receive_flow_result {
    MTP_RECEIVE_FLOW_NOTHING, // not of this flow, or implausible; nothing was recorded
    MTP_RECEIVE_FLOW_TAKEN,   // accepted, without data for the application
    MTP_RECEIVE_FLOW_RTP,     // the payload is for the application
};

struct mtp_receive_flow {
    struct mtp_receiver receiver;
    uint64_t token;
    uint64_t malformed, wrong_tokens;
    usec_t delayed_ack; // max wait of a single packet's acknowledgement; set by init, 0: none
    usec_t ack_at;      // when an acknowledgement is due; USEC_NEVER: none
    bool capable;       // true after an ECN-capable packet
    bool ece;           // as in struct mtp_ack
    int64_t marked;     // packets that routers marked (CE)
};

void mtp_receive_flow_init(struct mtp_receive_flow *s, uint64_t token);
// Processes the bytes of a record, which came with the ECN codepoint `ecn` of the IP header. For
// MTP_RECEIVE_FLOW_RTP, *payload points into `data`.
enum mtp_receive_flow_result mtp_receive_flow_record(struct mtp_receive_flow *s,
                                                     const uint8_t *data, size_t len, uint8_t ecn,
                                                     const uint8_t **payload, size_t *payload_len,
                                                     usec_t now);
// Fills in the acknowledgement of everything received; afterwards none is due.
void mtp_receive_flow_ack(struct mtp_receive_flow *s, struct mtp_ack *ack);

DECLS_END
#endif
