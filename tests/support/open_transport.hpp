// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: a media_transport that accepts as many packets as the test permits, and keeps them.
#ifndef WEIR_TESTS_OPEN_TRANSPORT_HPP
#define WEIR_TESTS_OPEN_TRANSPORT_HPP

#include <catch2/catch.hpp>

#include <cstdint>
#include <deque>
#include <vector>

#include "common/base/err.h"
#include "common/protocol/media_transport.h"
#include "common/wire/rtp.h"

struct open_transport {
    media_transport base{}; // must be first
    int room = 1 << 30;     // packets that it still accepts
    int err = 0;            // result of `send` while there is room
    bool wishes = false;
    feedback_wish wish{};
    std::deque<bool> fates; // lost or not, of packets in the order of sending
    int media_bps = 0;
    double max_bps = 0; // 0: no limit
    transport_info info{};
    int asked = 0;     // number of calls of `room`
    int unflushed = 0; // packets since the last flush
    struct sent {
        media_track track;
        std::vector<uint8_t> bytes;
        rtp_packet rtp; // its payload points into `bytes`
        usec_t at;
    };
    std::vector<sent> all;

    open_transport()
    {
        static const media_transport_ops ops = {has_room,       send,          flush,
                                                wants_feedback, on_media_rate, tell, fate, limit};
        base.ops = &ops;
        base.max_packet = 1200;
        transport_info_clear(&info);
    }
    open_transport(const open_transport &) = delete;
    open_transport &operator=(const open_transport &) = delete;

  private:
    static open_transport *of(media_transport *t)
    {
        return reinterpret_cast<open_transport *>(t);
    }
    static bool has_room(media_transport *t, usec_t)
    {
        of(t)->asked++;
        return of(t)->room > 0;
    }
    static int send(media_transport *t, media_track track, const media_packet *p, usec_t now)
    {
        open_transport *o = of(t);
        if (o->err)
            return o->err;
        if (o->room == 0)
            return ERR_AGAIN;
        o->room--;
        o->unflushed++;
        REQUIRE(p->head_len <= MEDIA_PACKET_MAX_HEAD);
        REQUIRE(p->head_len + p->body_len <= t->max_packet);
        sent s{track, {}, {}, now};
        s.bytes.assign(p->head, p->head + p->head_len);
        s.bytes.insert(s.bytes.end(), p->body, p->body + p->body_len);
        o->all.push_back(std::move(s));
        sent &kept = o->all.back();
        const rtp_ext_ids ids = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID};
        REQUIRE(rtp_decode(kept.bytes.data(), kept.bytes.size(), ids, &kept.rtp) == 0);
        return 0;
    }
    static void flush(media_transport *t, usec_t)
    {
        of(t)->unflushed = 0;
    }
    static bool wants_feedback(const media_transport *t, feedback_wish *out)
    {
        const auto *o = reinterpret_cast<const open_transport *>(t);
        *out = o->wish;
        return o->wishes;
    }
    static void on_media_rate(media_transport *t, int bps, usec_t)
    {
        of(t)->media_bps = bps;
    }
    static void limit(media_transport *t, double bps, usec_t)
    {
        of(t)->max_bps = bps;
    }
    static void tell(media_transport *t, transport_info *out, usec_t)
    {
        *out = of(t)->info;
    }
    static bool fate(media_transport *t, bool *lost)
    {
        std::deque<bool> &fates = of(t)->fates;
        if (fates.empty())
            return false;
        *lost = fates.front();
        fates.pop_front();
        return true;
    }
};

#endif
