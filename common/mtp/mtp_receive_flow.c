// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_receive_flow.h"

#include "common/base/err.h"
#include "common/mtp/mtp_flow.h"

enum { ECN_ECT_1 = 1, ECN_ECT_0 = 2, ECN_CE = 3 }; // RFC 3168, 5

static const usec_t DELAYED_ACK = 40 * USEC_PER_MSEC;

void mtp_receive_flow_init(struct mtp_receive_flow *s, uint64_t token)
{
    *s =
        (struct mtp_receive_flow){.token = token, .delayed_ack = DELAYED_ACK, .ack_at = USEC_NEVER};
    mtp_receiver_init(&s->receiver, MTP_FLOW_WINDOW);
}

// Returns true if the record had the expected slot and nothing is known beyond it.
static bool is_in_order(const struct mtp_receiver *r, const struct mtp_header *h, int64_t cum)
{
    return !(h->flags & (MTP_R | MTP_FILL)) && r->cum == cum + 1 && r->held.count == 0 &&
           (uint32_t)cum == h->slot;
}

// RFC 3168, 6.1.3: a mark is echoed until the sender says that it reduced its window. The packet
// that says so may be marked itself. A mark counts only after an ECN-capable packet: a network that
// rewrites the codepoint must not make us echo it to an older sender, which refuses such
// acknowledgements.
static void note_mark(struct mtp_receive_flow *s, const struct mtp_header *h, uint8_t ecn)
{
    if (h->flags & MTP_CWR)
        s->ece = false;
    s->capable |= ecn == ECN_ECT_0 || ecn == ECN_ECT_1;
    if (ecn != ECN_CE || !s->capable)
        return;
    s->ece = true;
    s->marked++;
}

enum mtp_receive_flow_result mtp_receive_flow_record(struct mtp_receive_flow *s,
                                                     const uint8_t *data, size_t len, uint8_t ecn,
                                                     const uint8_t **payload, size_t *payload_len,
                                                     usec_t now)
{
    struct mtp_header h;
    int err = mtp_record_decode(data, len, s->token, &h, payload);
    if (err) {
        s->wrong_tokens += err == ERR_NOT_FOUND;
        s->malformed += err != ERR_NOT_FOUND;
        return MTP_RECEIVE_FLOW_NOTHING;
    }
    int64_t cum = s->receiver.cum;
    enum mtp_verdict verdict = mtp_receiver_packet(&s->receiver, &h);
    if (verdict == MTP_BEYOND)
        return MTP_RECEIVE_FLOW_NOTHING;
    note_mark(s, &h, ecn);
    bool may_wait = s->ack_at == USEC_NEVER && is_in_order(&s->receiver, &h, cum);
    s->ack_at = may_wait ? now + s->delayed_ack : now;
    *payload_len = h.length;
    return verdict == MTP_DELIVER && !(h.flags & MTP_CTRL) ? MTP_RECEIVE_FLOW_RTP
                                                           : MTP_RECEIVE_FLOW_TAKEN;
}

void mtp_receive_flow_ack(struct mtp_receive_flow *s, struct mtp_ack *ack)
{
    s->ack_at = USEC_NEVER;
    mtp_receiver_ack(&s->receiver, ack);
    ack->ece = s->ece;
}
