// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/mtp_sink.h"

#include "common/base/err.h"
#include "common/protocol/mtp_flow.h"

void mtp_sink_init(struct mtp_sink *s, uint64_t token)
{
    *s = (struct mtp_sink){.token = token};
    mtp_receiver_init(&s->receiver, MTP_FLOW_WINDOW);
}

enum mtp_sink_result mtp_sink_record(struct mtp_sink *s, const uint8_t *data, size_t len,
                                     const uint8_t **payload, size_t *payload_len)
{
    struct mtp_header h;
    int err = mtp_record_decode(data, len, s->token, &h, payload);
    if (err) {
        s->wrong_tokens += err == ERR_NOT_FOUND;
        s->malformed += err != ERR_NOT_FOUND;
        return MTP_SINK_NOTHING;
    }
    enum mtp_verdict verdict = mtp_receiver_packet(&s->receiver, &h);
    if (verdict == MTP_BEYOND)
        return MTP_SINK_NOTHING;
    *payload_len = h.length;
    return verdict == MTP_DELIVER && !(h.flags & MTP_CTRL) ? MTP_SINK_RTP : MTP_SINK_ACK;
}
