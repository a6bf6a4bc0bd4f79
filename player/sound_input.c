// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/sound_input.h"

#include <string.h>

#include "common/base/seq.h"
#include "player/sound_player.h"

void sound_input_init(struct sound_input *in, const struct sdp *sdp, struct sound_player *player,
                      uint64_t random)
{
    memset(in, 0, sizeof(*in));
    in->sdp = sdp;
    in->player = player;
    rtp_receiver_init(&in->receiver);
    in->receiver.clock_rate = RTP_OPUS_CLOCK_RATE;
    feedback_init(&in->feedback, random);
}

void sound_input_near(struct sound_input *in, usec_t media)
{
    in->reference = sound_samples(media);
}

// A compound begins with the report of its source (RFC 3550, 6.1).
static bool on_rtcp(struct sound_input *in, const uint8_t *data, size_t len, usec_t arrived)
{
    struct rtcp_item item;
    size_t at = 0;
    if (rtcp_next(data, len, &at, &item) != 1 || item.ssrc != in->receiver.ssrc ||
        !in->receiver.started)
        return false;
    if (item.kind == RTCP_IS_SR) {
        rtp_receiver_sender_report(&in->receiver, item.sender.ntp, arrived);
        sound_sync_report(&in->sync, true, item.sender.ntp, item.sender.rtp_timestamp);
    }
    return true;
}

static bool place(struct sound_input *in, const struct rtp_packet *p, usec_t arrived, int64_t *out)
{
    if (!p->has_adu)
        return sound_sync_place(&in->sync, p->timestamp, arrived, out);
    *out = seq32_extend(in->reference, p->adu.frame);
    return true;
}

bool sound_input_packet(struct sound_input *in, bool rtcp, const uint8_t *data, size_t len,
                        usec_t arrived)
{
    if (rtcp || rtcp_is(data, len))
        return on_rtcp(in, data, len, arrived);
    struct rtp_packet p;
    if (len < 2 || (data[1] & 127) != in->sdp->sound.payload_type)
        return false;
    if (rtp_decode(data, len, in->sdp->sound.ext, &p) != 0 ||
        (!p.has_adu && !sdp_is_foreign(in->sdp))) {
        in->malformed++;
        return true;
    }
    int64_t seq, position;
    enum rtp_verdict verdict = rtp_receiver_packet(&in->receiver, &p, 0, &seq, arrived);
    if (verdict == RTP_DISCARD || verdict == RTP_DUPLICATE)
        return true;
    in->bytes += len;
    if (place(in, &p, arrived, &position))
        sound_player_packet(in->player, position, p.payload, p.payload_len);
    return true;
}

size_t sound_input_report(struct sound_input *in, uint8_t *out, usec_t now)
{
    if (!in->receiver.started)
        return 0;
    return feedback_compound(&in->feedback, &in->receiver, out, RTCP_MAX_PACKET, now);
}
