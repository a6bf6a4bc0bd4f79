// SPDX-License-Identifier: GPL-2.0-or-later
// The receiving end of an MTP flow for media: records in, payloads out, each once and at once, and
// an acknowledgement for each.
#ifndef WEIR_PROTOCOL_MTP_SINK_H
#define WEIR_PROTOCOL_MTP_SINK_H

#include "common/protocol/mtp_receiver.h"
#include "common/wire/mtp_record.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mtp_sink_result {
    MTP_SINK_NOTHING, // not ours, or not to be believed; nothing was noted
    MTP_SINK_ACK,     // an acknowledgement is due
    MTP_SINK_RTP,     // likewise, and the payload is the application's
};

struct mtp_sink {
    struct mtp_receiver receiver;
    uint64_t token;
    uint64_t malformed, wrong_tokens;
};

void mtp_sink_init(struct mtp_sink *s, uint64_t token);
// Bytes of a record came. *payload points into `data`; with RTP only.
enum mtp_sink_result mtp_sink_record(struct mtp_sink *s, const uint8_t *data, size_t len,
                                     const uint8_t **payload, size_t *payload_len);

#ifdef __cplusplus
}
#endif
#endif
