// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_tcp_listener.h"

enum {
    CLASSES = 4,
    NO_SCALE = 15, // "no scale" in the four bits of the hint
    SACK_BIT = 16,
    ECN_BIT = 32,
    HINT_BITS = 63,
};

static const usec_t MINUTE = 64 * USEC_PER_SEC;

// 536 is the default of RFC 9293, 3.7.1; 1220 is the min of IPv6.
static const uint16_t mss_classes[CLASSES] = {256, 536, 1220, MTP_TCP_MSS};

static uint32_t cookie_of(const struct siphash_key *secret, const struct tcp_path *path,
                          uint32_t irs, int64_t minute, int mss_class)
{
    return mtp_tcp_cookie(secret, path,
                          (uint64_t)irs << 32 | (uint32_t)(minute * CLASSES + mss_class));
}

static int class_of(uint16_t mss)
{
    int class = CLASSES - 1;
    while (class >= 0 && mss_classes[class] > mss)
        class --;
    return class;
}

// Not ahead of the clock: the client would treat later timestamps as old (RFC 7323, 5.3).
static uint32_t time_with_hints(uint32_t time, uint32_t hints)
{
    uint32_t t = (time & ~(uint32_t)HINT_BITS) | hints;
    return (int32_t)(t - time) > 0 ? t - (HINT_BITS + 1) : t;
}

static enum mtp_tcp_heard on_syn(const struct siphash_key *secret, const struct tcp_segment *s,
                                 struct tcp_segment *reply, usec_t now)
{
    int class = class_of(s->mss ? s->mss : 536);
    if (class < 0)
        return MTP_TCP_IGNORE;
    struct tcp_path path = tcp_path_reversed(&s->path);
    bool scaled = s->has_times && s->scale != TCP_SEGMENT_NO_SCALE;
    bool sack = s->has_times && s->sack_permitted;
    unsigned ecn_setup = TCP_SEGMENT_ECE | TCP_SEGMENT_CWR; // RFC 3168, 6.1.1
    bool ecn = s->has_times && (s->flags & ecn_setup) == ecn_setup;
    *reply = (struct tcp_segment){
        .path = path,
        .seq = cookie_of(secret, &path, s->seq, now / MINUTE, class),
        .ack = s->seq + 1,
        .flags = (uint8_t)(TCP_SEGMENT_SYN | TCP_SEGMENT_ACK | (ecn ? TCP_SEGMENT_ECE : 0)),
        .window = MTP_TCP_SERVER_WINDOW,
        .mss = MTP_TCP_MSS,
        .scale = scaled ? 0 : TCP_SEGMENT_NO_SCALE,
        .sack_permitted = sack,
        .has_times = s->has_times,
        .time_echo = s->time,
    };
    if (s->has_times) {
        uint32_t hints =
            (uint32_t)(scaled ? s->scale : NO_SCALE) | (sack ? SACK_BIT : 0) | (ecn ? ECN_BIT : 0);
        uint32_t time = mtp_tcp_time(mtp_tcp_time_offset(secret, &path), now);
        reply->time = time_with_hints(time, hints);
    }
    return MTP_TCP_REPLY;
}

// Returns the MSS class that the cookie encodes; -1: not our cookie, or an expired one.
static int check_cookie(const struct siphash_key *secret, const struct tcp_path *path,
                        uint32_t cookie, uint32_t irs, usec_t now)
{
    for (int64_t minute = now / MINUTE; minute >= now / MINUTE - 1 && minute >= 0; minute--)
        for (int class = 0; class < CLASSES; class ++)
            if (cookie_of(secret, path, irs, minute, class) == cookie)
                return class;
    return -1;
}

static enum mtp_tcp_heard on_hello(const struct siphash_key *secret, const struct tcp_segment *s,
                                   struct mtp_tcp_accepted *a, usec_t now)
{
    *a = (struct mtp_tcp_accepted){
        .path = tcp_path_reversed(&s->path),
        .isn = s->ack - 1,
        .irs = s->seq - 1,
        .scale = TCP_SEGMENT_NO_SCALE,
        .times = s->has_times,
        .time = s->time,
        .window = s->window,
    };
    if (!mtp_tcp_hello_read(s->data, s->len, &a->id, &a->tag, &a->slot_bytes))
        return MTP_TCP_IGNORE;
    int class = check_cookie(secret, &a->path, a->isn, a->irs, now);
    if (class < 0)
        return MTP_TCP_IGNORE;
    a->mss = mss_classes[class];
    a->time_offset = mtp_tcp_time_offset(secret, &a->path);
    if (s->has_times) {
        uint32_t hints = s->time_echo & HINT_BITS;
        a->sack = hints & SACK_BIT;
        a->ecn = hints & ECN_BIT;
        if ((hints & 15) <= TCP_SEGMENT_MAX_SCALE)
            a->scale = (int8_t)(hints & 15);
    }
    return MTP_TCP_ACCEPT;
}

enum mtp_tcp_heard mtp_tcp_listen(const struct siphash_key *secret, const struct tcp_segment *s,
                                  struct tcp_segment *reply, struct mtp_tcp_accepted *accepted,
                                  usec_t now)
{
    if (s->sum == TCP_SUM_BAD || s->flags & (TCP_SEGMENT_RST | TCP_SEGMENT_FIN))
        return MTP_TCP_IGNORE;
    switch (s->flags & (TCP_SEGMENT_SYN | TCP_SEGMENT_ACK)) {
    case TCP_SEGMENT_SYN:
        return on_syn(secret, s, reply, now);
    case TCP_SEGMENT_ACK:
        return on_hello(secret, s, accepted, now);
    default:
        return MTP_TCP_IGNORE;
    }
}
