// SPDX-License-Identifier: GPL-2.0-or-later
// Both ends of each datagram transport in the table, on one loop: packets arrive whole and in
// order, and what the receiving end sends back lets further ones out.
#include "common/transport/transport_receiver.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/srtp/srtp_guard.h"
#include "tests/unit/common/transport/path.hpp"

namespace
{

const uint64_t TOKEN = 0x1122334455667788;
const uint32_t SSRC = 7;
enum { PACKETS = 60, BYTES = 300 }; // of a payload
const rtp_ext_ids IDS = {0, 0, RTP_EXT_FEEDBACK_ID, 0};

struct both_ends : test::path {
    const transport_kind *kind;
    transport_receiver *receiver = nullptr;
    sockaddr_storage server;
    uint16_t seq = 0;
    bool whole = true;
    size_t rtcp = 0, readable = 0, largest = 0;
    srtp_guard *guards[2] = {}; // of the sending and of the receiving end

    explicit both_ends(const transport_kind *of, bool encrypts = false) : kind(of)
    {
        transport_path lent{};
        if (encrypts) {
            const uint8_t a[SRTP_KEY_BYTES] = {1}, b[SRTP_KEY_BYTES] = {2};
            guards[0] = srtp_guard_new(a, b);
            guards[1] = srtp_guard_new(b, a);
            lent.srtp = guards[0];
        }
        lent.token = TOKEN;
        lent.feedback = kind->reports;
        lent.ssrc = SSRC;
        open(kind->name, lent, true);
        sockaddr_parse("127.0.0.1:0", &server);
        sockaddr_set_port(reinterpret_cast<sockaddr *>(&server), udp_socket_port(near[0]));
    }
    ~both_ends() override
    {
        if (receiver)
            receiver->ops->free(receiver);
        for (auto *guard : guards)
            srtp_guard_free(guard);
    }

    void on_near(const datagram &d, usec_t now) override
    {
        if (t->ops->on_media)
            t->ops->on_media(t, d.data, d.len, now);
    }
    void on_far(const datagram &d) override
    {
        // A run of a payload's bytes is in each plain packet.
        for (size_t i = 0; i + 16 <= d.len; i++) {
            size_t k = 1;
            while (k < 16 && d.data[i + k] == static_cast<uint8_t>(d.data[i] + k))
                k++;
            if (k == 16) {
                readable++;
                break;
            }
        }
        largest = d.len > largest ? d.len : largest;
        if (kind->receive)
            receiver->ops->on_datagram(receiver, &d, clock_now());
        else
            on_rtp(d.data, d.len);
    }
    void on_rtp(const uint8_t *data, size_t len)
    {
        rtp_packet p;
        REQUIRE(rtp_decode(data, len, IDS, &p) == 0);
        came.push_back(p.seq);
        whole &= p.payload_len == BYTES;
        for (size_t i = 0; i < p.payload_len; i++)
            whole &= p.payload[i] == static_cast<uint8_t>(p.seq + i);
    }

    transport_receiver_path lend()
    {
        transport_receiver_path p{};
        p.loop = &loop;
        p.socket = far[0];
        p.server = reinterpret_cast<sockaddr *>(&server);
        p.ext = IDS;
        p.ssrc = SSRC + 1;
        p.srtp = guards[1];
        p.media_ssrc = SSRC;
        p.reports = kind->reports;
        p.has_token = true;
        p.token = TOKEN;
        p.on_rtp = [](void *ctx, const uint8_t *data, size_t len, usec_t, usec_t) {
            static_cast<both_ends *>(ctx)->on_rtp(data, len);
        };
        p.send_rtcp = [](void *ctx, const uint8_t *data, size_t len) {
            auto *b = static_cast<both_ends *>(ctx);
            b->rtcp++;
            if (b->t->ops->on_rtcp)
                b->t->ops->on_rtcp(b->t, data, len, clock_now());
        };
        p.ctx = this;
        return p;
    }

    void send_what_there_is_room_for()
    {
        usec_t now = clock_now();
        std::vector<std::vector<uint8_t>> kept; // a payload stays as it is until the flush
        while (seq < PACKETS && t->media.ops->room(&t->media, now)) {
            rtp_packet p{};
            feedback_wish wish;
            p.seq = seq;
            p.ssrc = SSRC;
            p.has_feedback = t->media.ops->wish && t->media.ops->wish(&t->media, &wish);
            if (p.has_feedback) {
                p.feedback.interval = static_cast<uint16_t>(
                    usec_max(1, usec_min(wish.interval / RTP_FEEDBACK_UNIT_US, UINT16_MAX)));
                p.feedback.packets = static_cast<uint8_t>(wish.packets < 255 ? wish.packets : 255);
            }
            uint8_t head[RTP_MAX_HEADER];
            kept.emplace_back(BYTES);
            for (size_t i = 0; i < BYTES; i++)
                kept.back()[i] = static_cast<uint8_t>(seq + i);
            media_packet packet = {head, rtp_encode(&p, head), kept.back().data(), BYTES, 0, 0};
            REQUIRE(t->media.ops->send(&t->media, TRACK_VIDEO, &packet, now) == 0);
            seq++;
        }
        if (t->media.ops->flush)
            t->media.ops->flush(&t->media, now);
    }
};

} // namespace

TEST_CASE("transport_receiver: both ends of each datagram transport, plain and as SRTP")
{
    for (int i = 0; transport_kinds[i / 2]; i++) {
        const transport_kind *kind = transport_kinds[i / 2];
        bool encrypts = i % 2;
        if (!kind->datagram)
            continue;
        INFO(kind->name << (encrypts ? " as SRTP" : ""));
        both_ends b(kind, encrypts);
        if (kind->receive) {
            transport_receiver_path lent = b.lend();
            REQUIRE(kind->receive(&lent, &b.receiver, clock_now()) == 0);
            CHECK_FALSE(b.receiver->connects);
        }
        if (b.t->media.ops->on_media_rate) // 1 Mbit/s
            b.t->media.ops->on_media_rate(&b.t->media, 1000000, clock_now());
        while (b.came.size() < PACKETS) {
            b.send_what_there_is_room_for();
            uv_run(&b.loop, UV_RUN_ONCE);
        }
        CHECK(b.whole);
        CHECK((b.readable == 0) == encrypts);
        CHECK(srtp_guard_dropped(b.guards[1]).forged == 0);
        for (size_t k = 0; k < PACKETS; k++)
            CHECK(b.came[k] == k);
        CHECK((b.rtcp > 0 || !kind->responsive)); // the viewer reported
        CHECK((b.rooms > 0 || !kind->measures));  // what came back let further packets out
    }
}

TEST_CASE("transport_receiver: a receiving end that the answer lacks something for is refused")
{
    for (int i = 0; transport_kinds[i]; i++) {
        const transport_kind *kind = transport_kinds[i];
        if (!kind->receive || kind->plain_rtp)
            continue;
        INFO(kind->name);
        transport_receiver *r = nullptr;
        sockaddr_storage server;
        sockaddr_parse("127.0.0.1:0", &server); // no port
        transport_receiver_path p{};
        p.server = reinterpret_cast<sockaddr *>(&server);
        p.has_token = true;
        CHECK(kind->receive(&p, &r, 0) == ERR_UNSUPPORTED);
        sockaddr_set_port(reinterpret_cast<sockaddr *>(&server), 9);
        p.has_token = false;
        CHECK(kind->receive(&p, &r, 0) == ERR_UNSUPPORTED);
        CHECK(r == nullptr);
    }
}
