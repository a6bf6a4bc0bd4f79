// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/sim_transport.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/wire/rtp.h"

namespace
{
// A transport over a network with a delay of 50 ms in each direction that drops selected packets.
struct path {
    struct end {
        node n; // first
        path *p;
        bool to_sink;
    };
    packet_pool small{}, large{};
    flow_env env{};
    flow f{};
    end ends[2]{};
    std::multimap<usec_t, packet *> on_way[2]; // to the sink, to the source
    std::set<int> drop;                        // media packets, by order of sending
    int sent = 0;
    sim_transport *c = nullptr;
    std::vector<std::pair<usec_t, int>> delivered; // when, which
    int written = 0, wanted = 0;
    uint16_t seq = 100;

    static void push(node *n, packet *p, usec_t now)
    {
        end *e = (end *)n;
        bool lost = e->to_sink && e->p->drop.count(e->p->sent++);
        if (lost)
            packet_free(p);
        else
            e->p->on_way[!e->to_sink].emplace(now + 50000, p);
    }
    static void on_room(void *ctx, usec_t now)
    {
        ((path *)ctx)->write(now);
    }
    static void deliver(void *ctx, const uint8_t *rtp, size_t len, usec_t now)
    {
        path *p = (path *)ctx;
        rtp_packet r;
        REQUIRE(rtp_decode(rtp, len, {}, &r) == 0);
        p->delivered.emplace_back(now, (int)r.seq - 100);
    }
    explicit path(const char *via, tcp_variant variant = TCP_NEWRENO, bool as_tcp = false)
    {
        static const node_ops ops = {push, nullptr, nullptr};
        packet_pool_init(&small, FLOW_SMALL, 10000);
        packet_pool_init(&large, FLOW_LARGE, 10000);
        env.small = &small;
        env.large = &large;
        f.env = &env;
        for (int i = 0; i < 2; i++) {
            node_init(&ends[i].n, &ops, nullptr);
            ends[i].p = this;
            ends[i].to_sink = i == 0;
        }
        node_init(&f.source, nullptr, &ends[0].n);
        node_init(&f.sink, nullptr, &ends[1].n);
        sim_transport_config config{};
        config.via = via;
        config.flow = &f;
        config.packet_bytes = 1066;
        config.ssrc = 7;
        config.first_seq = seq;
        config.tcp = {variant, 0, 2, 1000, USEC_PER_SEC, false, TCP_PER_ACK, false, false};
        config.as_tcp = as_tcp;
        config.token = 9;
        REQUIRE(sim_transport_check(via) == 0);
        c = sim_transport_new(&config, 0);
        REQUIRE(c);
        c->on_room = on_room;
        c->deliver = deliver;
        c->ctx = this;
    }
    ~path()
    {
        for (auto &way : on_way)
            for (auto &p : way)
                packet_free(p.second);
        c->ops->free(c);
        packet_pool_destroy(&small);
        packet_pool_destroy(&large);
    }
    path(const path &) = delete;
    path &operator=(const path &) = delete;

    void write(usec_t now)
    {
        while (written < wanted && c->media.ops->room(&c->media, now)) {
            uint8_t bytes[1000] = {};
            rtp_packet r{};
            r.payload_type = 97;
            r.seq = seq++;
            r.ssrc = 7;
            rtp_encode(&r, bytes);
            written++;
            const media_packet packet = {bytes, 12, bytes + 12, sizeof(bytes) - 12, 0, 0};
            REQUIRE(c->media.ops->send(&c->media, TRACK_VIDEO, &packet, now) == 0);
        }
    }
    void run(int packets, usec_t from, usec_t until)
    {
        wanted += packets;
        for (usec_t now = from; now < until; now += 1000) {
            write(now);
            for (int way = 0; way < 2; way++) {
                while (!on_way[way].empty() && on_way[way].begin()->first <= now) {
                    packet *p = on_way[way].begin()->second;
                    on_way[way].erase(on_way[way].begin());
                    way == 0 ? c->ops->arrived(c, p, now) : c->ops->back(c, p, now);
                }
            }
            if (c->ops->next(c, now) <= now)
                c->ops->run(c, now);
            if (c->ops->sink_next(c) <= now)
                c->ops->sink_run(c, now);
        }
    }
    std::vector<int> order() const
    {
        std::vector<int> all;
        for (auto &d : delivered)
            all.push_back(d.second);
        return all;
    }
};
} // namespace

TEST_CASE("sim_transport: the names are those of the programs")
{
    for (const char *good :
         {"tcp", "tcp:sndbuf=65536", "tcp:sndbuf=64KB", "minbuf", "minbuf:2,0", "udp",
          "udp:rate=1000000", "psp", "psp-plain", "tfrc:damp", "arc", "scream",
          "scream:target=40,ecn=classic", "mtp", "mtp:fill,queue=500ms"}) {
        INFO(good);
        CHECK(sim_transport_check(good) == 0);
    }
    CHECK(sim_transport_check("fixed") == ERR_NOT_FOUND); // a controller, not a transport
    CHECK(sim_transport_check("") == ERR_NOT_FOUND);
    CHECK(sim_transport_check("minbuf:0,3") == ERR_RANGE);
    CHECK(sim_transport_check(("arc:" + std::string(70, 'x')).c_str()) == ERR_RANGE);
}

TEST_CASE("sim_transport: TCP delivers all in order, late after a loss")
{
    path p("tcp");
    p.drop = {1};
    p.run(6, 0, 3 * USEC_PER_SEC);
    CHECK(p.order() == std::vector<int>{0, 1, 2, 3, 4, 5});
    // 0 leaves at 0 and arrives at 50; 1 is lost; 2 and 3 leave at 100, when 0 is acknowledged;
    // their duplicates let 4 and 5 out at 200, whose duplicates have 1 sent again at 300.
    CHECK(p.delivered[0].first == 50000);
    for (int i = 1; i < 6; i++)
        CHECK(p.delivered[(size_t)i].first == 350000);
    CHECK(p.f.counts.retransmits == 1);
    CHECK(p.f.counts.good_bytes == 6 * (1000 + 4 + 40));
    CHECK(p.c->ops->is_empty(p.c));
}

TEST_CASE("sim_transport: a send buffer, and MIN_BUF, hold no more than their limits")
{
    struct {
        const char *via;
        int written;
    } const cases[] = {
        {"tcp", 100},
        {"tcp:sndbuf=10000", 9}, // 9 x 1000; with a tenth of up to 1066 it would be beyond
        {"minbuf:1,3", 4},       // cwnd 2 + min(3, 2)
        {"minbuf:2,0", 4},       // 2 x 2
    };
    for (auto &one : cases) {
        path p(one.via);
        p.wanted = 100;
        p.write(0);
        INFO(one.via);
        CHECK(p.written == one.written);
        CHECK_FALSE(p.c->ops->is_empty(p.c));
        p.run(0, 0, 20 * USEC_PER_SEC);
        CHECK(p.delivered.size() == 100); // acknowledgements make room
        CHECK(p.c->ops->is_empty(p.c));
        CHECK(p.c->media.reliable);
    }
}

TEST_CASE("sim_transport: MIN_BUF goes on writing while packets are SACKed (Goel et al. 2002, 2.2)")
{
    // 16 packets are in flight when the first of them, 14, is lost. The other 15 are SACKed after
    // 400 ms: of a window halved to 8, the copy of 14 and 7 new packets leave.
    path p("minbuf:1,0", TCP_SACK);
    p.drop = {14};
    p.run(400, 0, 399000);
    CHECK(p.written == 14 + 16);
    p.run(0, 399000, 440000);
    CHECK(p.f.counts.fast_retransmits == 1);
    CHECK(p.delivered.size() == 14);
    CHECK(p.written == 14 + 16 + 7);
    p.run(0, 440000, 20 * USEC_PER_SEC);
    CHECK(p.f.counts.timeouts == 0);
    CHECK(p.delivered.size() == 400);
}

TEST_CASE("sim_transport: losses of MTP and datagrams stay lost and delay nothing")
{
    for (const char *via : {"mtp", "udp", "tfrc", "arc", "psp", "scream"}) {
        path p(via);
        p.drop = {1};
        p.run(6, 0, 10 * USEC_PER_SEC);
        INFO(via);
        CHECK(p.order() == std::vector<int>{0, 2, 3, 4, 5});
        CHECK(p.delivered[0].first == 50000);
        CHECK(p.f.counts.lost == 1);
        CHECK_FALSE(p.c->media.reliable);
        CHECK(p.c->may_lose);
        CHECK(p.c->ops->is_empty(p.c));
    }
}

TEST_CASE("sim_transport: MTP's own queue takes packets at the media's rate")
{
    path p("mtp:queue=65536");
    p.c->media.ops->on_media_rate(&p.c->media, 800000, 0); // 10 ms a packet
    p.wanted = 100;
    p.write(0);
    CHECK(p.written == 1);
    p.run(0, 0, 505000);
    CHECK(p.written == 51);
}

TEST_CASE("sim_transport: MTP as a mode of the stream's TCP has its window, timeouts and ACKs")
{
    struct {
        bool as_tcp;
        size_t first_round, acks; // packets that leave at once; ACKs of three packets
    } const rows[] = {{false, 4, 2}, {true, 2, 3}};
    for (auto &row : rows) {
        INFO(row.as_tcp);
        path p("mtp:paper", TCP_RENO, row.as_tcp);
        p.run(20, 0, 1000);
        CHECK(p.on_way[0].size() == row.first_round);

        path acks("mtp:paper", TCP_RENO, row.as_tcp);
        acks.run(3, 0, 49000); // the first ones are at the viewer after 50 ms
        size_t seen = 0;
        for (usec_t now = 49000; now < 400000; now += 1000) {
            size_t before = acks.on_way[1].size();
            acks.run(0, now, now + 1000);
            seen += acks.on_way[1].size() > before ? acks.on_way[1].size() - before : 0;
        }
        CHECK(seen == row.acks);
    }
}
