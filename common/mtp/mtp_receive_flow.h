// SPDX-License-Identifier: GPL-2.0-or-later
// The receiving end of an MTP flow for media: records in, payloads out, each once and at once.
//
// Acknowledgements are a TCP's (RFC 5681, 4.2): for each second packet at once, for a lone one
// after 40 ms, as Linux has it. For what comes with or behind a hole, twice, or as a replacement:
// at once. So the sender's packets leave in pairs, as those of the TCPs beside it; one by one they
// would find room in a full queue more often.
#ifndef WEIR_MTP_MTP_RECEIVE_FLOW_H
#define WEIR_MTP_MTP_RECEIVE_FLOW_H

#include "common/base/usec.h"
#include "common/mtp/mtp_receiver.h"
#include "common/wire/mtp_record.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mtp_receive_flow_result {
    MTP_RECEIVE_FLOW_NOTHING, // not ours, or not to be believed; nothing was noted
    MTP_RECEIVE_FLOW_TAKEN,   // without anything for the application
    MTP_RECEIVE_FLOW_RTP,     // the payload is the application's
};

struct mtp_receive_flow {
    struct mtp_receiver receiver;
    uint64_t token;
    uint64_t malformed, wrong_tokens;
    usec_t ack_at; // when an acknowledgement is due; USEC_NEVER: none is
};

void mtp_receive_flow_init(struct mtp_receive_flow *s, uint64_t token);
// Bytes of a record came. *payload points into `data`; with RTP only.
enum mtp_receive_flow_result mtp_receive_flow_record(struct mtp_receive_flow *s,
                                                     const uint8_t *data, size_t len,
                                                     const uint8_t **payload, size_t *payload_len,
                                                     usec_t now);
// The acknowledgement of all that came; none is due after it.
void mtp_receive_flow_ack(struct mtp_receive_flow *s, struct mtp_ack *ack);

#ifdef __cplusplus
}
#endif
#endif
