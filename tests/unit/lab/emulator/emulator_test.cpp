// SPDX-License-Identifier: GPL-2.0-or-later
// Runs the emulator's loop between two datagram sockets instead of devices. The stop is requested
// before it runs: the loop wakes up once, reads all packets, and ends.
#include <catch2/catch.hpp>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <vector>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "lab/emulator/emulator.h"
#include "lab/emulator/emulator_parts.h"
#include "tests/unit/temp_folder.hpp"

namespace
{

using bytes = std::vector<uint8_t>;

// IPv4 and UDP, from port 1000 to `port`.
bytes packet_of(size_t size, uint16_t port)
{
    bytes p(size);
    p[0] = 0x45;
    p[2] = static_cast<uint8_t>(size >> 8);
    p[3] = static_cast<uint8_t>(size);
    p[9] = 17;
    p[20] = 1000 >> 8;
    p[21] = 1000 & 0xff;
    p[22] = static_cast<uint8_t>(port >> 8);
    p[23] = static_cast<uint8_t>(port);
    return p;
}

struct bench {
    temp_folder folder;
    struct emulator e = {};
    int far[2]; // the hosts' ends of both devices

    bench(const char *a_to_b, size_t held)
    {
        e.mtu = 1500;
        e.ports[0] = 7;
        e.port_count = 1;
        e.scratch = static_cast<uint8_t *>(malloc(e.mtu + EMULATOR_SLACK));
        e.start = e.now = clock_now();
        e.end = USEC_NEVER;
        e.next_report = USEC_NEVER;
        REQUIRE(link_report_open(&e.report, (folder / "stats").c_str()) == 0);
        e.epoll = epoll_create1(0);
        e.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
        e.signals = eventfd(1, EFD_NONBLOCK);
        for (int i = 0; i < 2; i++) {
            int pair[2];
            REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair) == 0);
            e.tun[i] = pair[0];
            far[i] = pair[1];
        }
        for (int fd : {e.signals, e.timer, e.tun[0], e.tun[1]}) {
            struct epoll_event event = {};
            event.events = EPOLLIN;
            event.data.fd = fd;
            REQUIRE(epoll_ctl(e.epoll, EPOLL_CTL_ADD, fd, &event) == 0);
        }
        world_init(&e.world, e.start);
        open_way(0, a_to_b, held);
        open_way(1, "", held);
    }
    ~bench()
    {
        CHECK(emulator_close(&e) == 0);
        close_far(0);
        close_far(1);
    }
    bench(const bench &) = delete;
    bench &operator=(const bench &) = delete;

    void close_far(int side)
    {
        if (far[side] >= 0)
            close(far[side]);
        far[side] = -1;
    }
    void send(int side, const bytes &p)
    {
        REQUIRE(write(far[side], p.data(), p.size()) == static_cast<ssize_t>(p.size()));
    }
    size_t received(int side)
    {
        char buffer[9000];
        size_t n = 0;
        while (read(far[side], buffer, sizeof(buffer)) > 0)
            n++;
        return n;
    }

  private:
    void open_way(int i, const char *text, size_t held)
    {
        struct direction *way = &e.ways[i];
        struct link_spec spec;
        char error[256];
        size_t line;
        way->emulator = &e;
        way->in = e.tun[i];
        way->out = e.tun[1 - i];
        packet_pool_init(&way->pool, e.mtu + EMULATOR_SLACK, held);
        node_init(&way->sink, &emulator_sink_ops, nullptr);
        REQUIRE(link_spec_parse(text, &spec, error, sizeof(error)) == 0);
        REQUIRE(link_init(&way->link, &e.world, &spec, nullptr, 0, &line, 1, &way->sink, e.start) ==
                0);
    }
};

// A sink at which time passes: when the first packet reaches it, the clock advances, and only then
// the second packet arrives at the device.
struct slow_sink {
    struct node node;
    bench *b;
    usec_t arrived; // the second packet
    usec_t stamped; // the packet that came last
};

void slow_sink_push(struct node *n, struct packet *p, usec_t)
{
    auto *s = reinterpret_cast<slow_sink *>(n);
    s->stamped = p->pushed_at;
    packet_free(p);
    if (s->arrived)
        return;
    usec_t before = clock_now();
    while ((s->arrived = clock_now()) == before) {
    }
    s->b->send(0, packet_of(100, 7));
}

} // namespace

TEST_CASE("emulator: a packet that arrives while it works is stamped after its arrival")
{
    static const struct node_ops ops = {slow_sink_push, nullptr, nullptr};
    bench b("", 100);
    slow_sink sink = {};
    node_init(&sink.node, &ops, nullptr);
    sink.b = &b;
    b.e.ways[0].link.sink = &sink.node;
    b.send(0, packet_of(100, 7));
    CHECK(emulator_run(&b.e) == 0);
    CHECK(link_all_stats(&b.e.ways[0].link)->packets_out == 2);
    CHECK(sink.arrived > b.e.start);
    CHECK(sink.stamped >= sink.arrived);
}

TEST_CASE("emulator: packets that enter at one side leave at the other")
{
    bench b("", 100);
    for (int i = 0; i < 5; i++)
        b.send(0, packet_of(100, 7));
    b.send(1, packet_of(1500, 9));
    CHECK(emulator_run(&b.e) == 0);
    CHECK(b.received(1) == 5);
    CHECK(b.received(0) == 1);
    CHECK(link_flow_stats(&b.e.ways[0].link, 1)->packets_out == 5);
    CHECK(link_flow_stats(&b.e.ways[1].link, 0)->bytes_out == 1500);
}

TEST_CASE("emulator: captures hold all packets, or those of no given port")
{
    constexpr size_t file_header = 24, packet_header = 16;
    for (bool rest : {false, true}) {
        CAPTURE(rest);
        bench b("", 100);
        b.e.captures_rest = rest;
        for (int i = 0; i < 2; i++) {
            std::string prefix = (b.folder / "way") + std::to_string(i);
            REQUIRE(pcap_open(&b.e.ways[i].entered, prefix.c_str(), "in", 65535) == 0);
            REQUIRE(pcap_open(&b.e.ways[i].left, prefix.c_str(), "out", 65535) == 0);
        }
        for (uint16_t port : {7, 9, 7})
            b.send(0, packet_of(100, port));
        CHECK(emulator_run(&b.e) == 0);
        CHECK(b.received(1) == 3);
        for (struct direction &way : b.e.ways) {
            pcap_flush(&way.entered);
            pcap_flush(&way.left);
        }
        size_t packets = rest ? 1 : 3, expected = file_header + packets * (packet_header + 100);
        CHECK(b.folder.read("way0-in.pcap").size() == expected);
        CHECK(b.folder.read("way0-out.pcap").size() == expected);
        CHECK(b.folder.read("way1-in.pcap").size() == file_header);
    }
}

TEST_CASE("emulator: packets beyond the bound are dropped and counted, and room returns")
{
    bench b("delay=3600s", 3);
    for (uint16_t port : {7, 9, 7, 7, 9}) // the last two find no room
        b.send(0, packet_of(100, port));
    for (int i = 0; i < 5; i++) // each leaves before the next one comes
        b.send(1, packet_of(100, 9));
    CHECK(emulator_run(&b.e) == 0);
    CHECK(b.received(1) == 0);
    CHECK(b.received(0) == 5);
    const struct extra_drops &d = b.e.ways[0].all;
    CHECK(d.refused_packets[0] == 2);
    CHECK(d.refused_bytes[0] == 200);
    CHECK(d.refused_packets[1] == 1); // flow 0
    CHECK(d.refused_packets[2] == 1); // flow 1, port 7
    CHECK(b.e.ways[1].all.refused_packets[0] == 0);
    std::string end = b.folder.read("stats");
    CAPTURE(end);
    CHECK(
        end.find("\"a_to_b\":{\"packets_in\":5,\"bytes_in\":500,\"packets_out\":0,\"bytes_out\":0,"
                 "\"dropped\":{\"loss\":0,\"full\":0,\"aqm\":0,\"pool\":2}") != std::string::npos);
    CHECK(end.find("\"7\":{\"a_to_b\":{\"packets_in\":3,") != std::string::npos);
    CHECK(b.folder.logged().empty());
}

TEST_CASE("emulator: a packet that the device refuses does not count as forwarded")
{
    bench b("", 3);
    b.close_far(1);
    b.send(0, packet_of(100, 7));
    CHECK(emulator_run(&b.e) == 0);
    CHECK(b.e.ways[0].all.unwritten_packets[0] == 1);
    CHECK(b.e.ways[0].all.unwritten_bytes[2] == 100);
    CHECK(b.folder.read("stats").find("\"packets_out\":0") != std::string::npos);
}

TEST_CASE("emulator: a packet above the MTU ends it, and the message names the remedy")
{
    for (size_t held : {1u, 0u}) { // also one that there would be no room for
        bench b("", held);
        b.send(0, packet_of(1500, 7));
        CHECK(emulator_run(&b.e) == 0);
        b.e.stopping = false;
        b.send(1, packet_of(1501, 7));
        CHECK(emulator_run(&b.e) == ERR_TOO_BIG);
        CHECK(b.received(1) == held);
        CHECK(b.received(0) == 0);
        CHECK(b.folder.logged().find("a packet longer than the MTU of 1500 came from the device of "
                                     "B:") == 0);
        CHECK(b.folder.logged().find("'ip link set DEV mtu 1500 gso_max_segs 1'") !=
              std::string::npos);
    }
}
