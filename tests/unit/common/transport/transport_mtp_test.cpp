// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/mtp/mtp_receive_flow.h"
#include "common/mtp/mtp_udp_ack.h"
#include "tests/unit/common/transport/path.hpp"

namespace
{

const uint64_t TOKEN = 0x1122334455667788;

// The viewer acknowledges when told to.
struct path : test::path {
    mtp_receive_flow sink;
    size_t datagrams = 0;
    uint16_t seq = 0;

    void on_near(const datagram &d, usec_t now) override
    {
        t->ops->on_media(t, d.data, d.len, now);
    }
    void on_far(const datagram &d) override
    {
        const uint8_t *payload;
        size_t len;
        datagrams++;
        if (mtp_receive_flow_record(&sink, d.data, d.len, 0, &payload, &len, 0) ==
            MTP_RECEIVE_FLOW_RTP)
            came.push_back(load_be16(payload + 2));
    }

    explicit path(const char *name, bool proved = true)
    {
        mtp_receive_flow_init(&sink, TOKEN);
        transport_path lent{};
        lent.token = TOKEN;
        open(name, lent, proved);
    }

    // As many packets as there is room for at this instant, at most `most`.
    int fill(usec_t now, int most = 1000)
    {
        std::vector<uint8_t> bytes(t->media.max_packet);
        int sent = 0;
        for (; sent < most && t->media.ops->room(&t->media, now); sent++) {
            store_be16(bytes.data() + 2, seq++);
            const media_packet p = {bytes.data(), 12, bytes.data() + 12, bytes.size() - 12, 0, 0};
            REQUIRE(t->media.ops->send(&t->media, TRACK_VIDEO, &p, now) == 0);
        }
        t->media.ops->flush(&t->media, now);
        return sent;
    }

    void turn(size_t wanted)
    {
        while (datagrams < wanted)
            uv_run(&loop, UV_RUN_ONCE);
    }

    // What the viewer has, told with this token.
    void acknowledge(uint64_t token = TOKEN)
    {
        mtp_ack a;
        uint8_t out[MTP_UDP_ACK_MAX];
        mtp_receiver_ack(&sink.receiver, &a);
        size_t len = mtp_udp_ack_encode(&a, token, out);
        t->ops->on_media(t, out, len, clock_now());
    }

    // The same as a datagram.
    void send_acknowledgement()
    {
        mtp_ack a;
        uint8_t out[MTP_UDP_ACK_MAX];
        mtp_receiver_ack(&sink.receiver, &a);
        iovec part = {out, mtp_udp_ack_encode(&a, TOKEN, out)};
        sockaddr_storage back;
        sockaddr_parse("127.0.0.1:0", &back);
        sockaddr_set_port(reinterpret_cast<sockaddr *>(&back), udp_socket_port(near[0]));
        REQUIRE(udp_socket_send(far[0], reinterpret_cast<sockaddr *>(&back), &part, 1) == 0);
    }
};

} // namespace

TEST_CASE("transport_mtp: names")
{
    static const struct {
        const char *name;
        int err;
    } table[] = {
        {"mtp", 0},
        {"mtp:fill", 0},
        {"mtp:resend,2,5", 0},
        {"mtp:queue=100ms,frames", 0},
        {"mtp:lazy", ERR_MALFORMED},
        {"mtp:0,1", ERR_RANGE},
    };
    for (const auto &r : table) {
        INFO(r.name);
        const transport_kind *kind;
        const char *params;
        CHECK(transport_find(r.name, &kind, &params) == r.err);
    }
}

TEST_CASE("transport_mtp: a window leaves, an acknowledgement lets out more")
{
    path p("mtp:1,3,noiw10");
    usec_t now = clock_now();
    CHECK(p.fill(now) == 7); // cwnd 4, and 3 that wait
    p.turn(4);
    CHECK(p.came == std::vector<uint16_t>{0, 1, 2, 3});
    CHECK(p.info(now).cwnd_packets == 4);
    CHECK(p.info(now).unsent_bytes == 3.0 * static_cast<double>(p.t->media.max_packet));
    CHECK(p.rooms == 0);
    p.acknowledge();
    CHECK(p.rooms == 1);
    CHECK(p.info(now).cwnd_packets == 6); // slow start, two an ACK
    p.turn(7);
    CHECK(p.came.size() == 7);
    CHECK(p.info(now).rtt_ms > 0);
    CHECK(std::string(p.info(now).variable[0].name) == "mode");
    CHECK(std::string(p.info(now).variable[2].name) == "replaced");
}

TEST_CASE("transport_mtp: what datagrams let out leaves with the end of their batch")
{
    path p("mtp:1,3,noiw10");
    CHECK(p.fill(clock_now()) == 7);
    p.turn(4);
    p.send_acknowledgement();
    p.turn(7);
    CHECK(p.came == std::vector<uint16_t>{0, 1, 2, 3, 4, 5, 6});
    CHECK(p.info(clock_now()).cwnd_packets == 6); // and no time-out was needed
}

TEST_CASE("transport_mtp: an acknowledgement without the token changes nothing")
{
    path p("mtp:fill,noiw10");
    p.fill(clock_now());
    p.turn(4);
    for (uint64_t token : {TOKEN ^ 1, uint64_t{0}, ~TOKEN})
        p.acknowledge(token);
    transport_info i = p.info(clock_now());
    CHECK(i.cwnd_packets == 4);
    CHECK(std::isnan(i.rtt_ms));
    CHECK(i.variable[0].value == 1); // fill
    CHECK(i.acks_ignored == 3);
    CHECK(p.rooms == 0);
    p.acknowledge();
    CHECK(p.info(clock_now()).cwnd_packets == 6);
    CHECK(p.info(clock_now()).acks_ignored == 3);
}

TEST_CASE("transport_mtp: nothing leaves before the address is proved")
{
    path p("mtp:noiw10", false);
    usec_t now = clock_now();
    CHECK(p.fill(now) == 0);
    p.prove();
    p.t->ops->on_writable(p.t, now);
    CHECK(p.rooms == 1);
    CHECK(p.fill(now) == 4); // none waits here
    p.turn(4);
}

TEST_CASE("transport_mtp: queue= takes packets at the media's rate and drops the oldest")
{
    path p("mtp:queue=12000,noiw10");
    usec_t now = clock_now();
    int bps = 10000000; // a packet takes less than a millisecond
    p.t->media.ops->on_media_rate(&p.t->media, bps, now);
    int taken = 0;
    for (int i = 0; i < 100; i++)
        taken += p.fill(now + i * USEC_PER_MSEC);
    double most = 1e6 / 8 / static_cast<double>(p.t->media.max_packet) * 1.01 + 3;
    CHECK(taken <= most);
    CHECK(taken > most * 0.9);
    transport_info i = p.info(now);
    CHECK(i.unsent_bytes <= 12000);
    CHECK(i.variable[3].value ==
          taken - 4 - i.unsent_bytes / static_cast<double>(p.t->media.max_packet));
}

TEST_CASE("transport_mtp: the time-out fires, and silence is told of")
{
    path p("mtp:noiw10");
    usec_t now = clock_now();
    p.fill(now);
    CHECK(p.info(now + 3 * USEC_PER_SEC).unheard == 3 * USEC_PER_SEC);
    p.turn(5); // 4, and a second later, as no round trip was measured yet, an empty replacement
    CHECK(clock_now() - now >= USEC_PER_SEC);
    CHECK(p.sink.receiver.counts.empty == 1);
    CHECK(p.info(clock_now()).cwnd_packets == 1);
    CHECK(p.info(clock_now()).variable[2].value == 1);
}
