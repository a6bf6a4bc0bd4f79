// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/net/tcp_conn.h"
#include "common/net/tcp_info.h"
#include "common/transport/transport.h"
#include "tests/support/tcp_pair.hpp"
#include "tests/support/tls_pair.hpp"

namespace
{

const usec_t FIRST_STEP = 10 * USEC_PER_MSEC; // more than minbuf_spacing
const usec_t LATER = USEC_PER_SEC;

uint64_t pacing_rate(int fd)
{
    uint64_t rate = 0;
    socklen_t len = sizeof(rate);
    REQUIRE(getsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, &len) == 0);
    return rate;
}

transport *open(test::tcp_pair &pair, const char *name)
{
    transport_path path{};
    path.control = pair.conn;
    path.channel[1] = 1;
    path.loop = &pair.loop;
    path.on_room = [](void *, usec_t) {};
    transport *t = transport_open(name, &path, 0);
    REQUIRE(t);
    return t;
}

} // namespace

TEST_CASE("minbuf: the kernel paces the connection if the parameters say so")
{
    const struct {
        const char *name;
        bool paced;
    } table[] = {
        {"minbuf", false},         {"minbuf:1,0", false},         {"minbuf:1,3,pace", true},
        {"minbuf:auto,20", false}, {"minbuf:auto,20,pace", true}, {"tcp", false}};
    for (const auto &row : table) {
        INFO(row.name);
        test::tcp_pair pair;
        const int fd = tcp_conn_fd(pair.conn);
        const uint64_t unlimited = pacing_rate(fd);
        transport *t = open(pair, row.name);
        CHECK((pacing_rate(fd) != unlimited) == row.paced);
        t->ops->free(t);
    }
}

TEST_CASE("minbuf: a connection that serves another transport stamps no acknowledgements")
{
    const auto stamps = [](int fd) {
        uint32_t flags = 0;
        socklen_t len = sizeof(flags);
        REQUIRE(getsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, &len) == 0);
        return flags != 0;
    };
    test::tcp_pair pair;
    const int fd = tcp_conn_fd(pair.conn);
    transport *t = open(pair, "minbuf:1,0");
    CHECK_FALSE(stamps(fd)); // no media has waited
    REQUIRE(tcp_conn_want_acks(pair.conn, true) == 0);
    CHECK(stamps(fd));
    t->ops->free(t);
    CHECK_FALSE(stamps(fd));
}

namespace
{

// A minbuf connection inside TLS, whose viewer reads only when it is told to.
struct tls_rig {
    test::tls_keys keys;
    test::tcp_pair pair;
    test::tls_end viewer;
    size_t wire_bytes = 0; // received after the handshake

    tls_rig() : viewer(client(keys))
    {
        tcp_filter *server = tls_server_filter_new(keys.credentials);
        REQUIRE(server);
        REQUIRE(tcp_conn_push_filter(pair.conn, server) == 0);
        while (!tcp_conn_is_secure(pair.conn)) {
            const std::string out = viewer.flush();
            REQUIRE(send(pair.other, out.data(), out.size(), 0) ==
                    static_cast<ssize_t>(out.size()));
            uv_run(&pair.loop, UV_RUN_NOWAIT);
            read();
            REQUIRE(viewer.err == 0);
        }
        wire_bytes = 0;
    }
    static tcp_filter *client(const test::tls_keys &k)
    {
        const tls_trust trust = test::trust_of("127.0.0.1", k.pin());
        return tls_client_filter_new(&trust);
    }
    // Reads what the kernel has; the loop runs in between, so that the server's end continues.
    void read()
    {
        std::vector<char> chunk(65536);
        ssize_t n;
        while ((n = recv(pair.other, chunk.data(), chunk.size(), MSG_DONTWAIT)) > 0) {
            wire_bytes += static_cast<size_t>(n);
            viewer.receive(std::string(chunk.data(), static_cast<size_t>(n)));
            uv_run(&pair.loop, UV_RUN_NOWAIT);
        }
    }
};

// Sends the connection's first window, whose packets are spread (minbuf_spacing), and has it read.
void pass_first_window(tls_rig &r, transport *t, const media_packet &packet)
{
    const size_t size = 4 + packet.body_len;
    for (usec_t now = 0; now < 12 * FIRST_STEP; now += FIRST_STEP) {
        REQUIRE(t->ops->media.room(&t->media, now));
        REQUIRE(t->ops->media.send(&t->media, TRACK_VIDEO, &packet, now) == 0);
        t->ops->media.flush(&t->media, now);
        for (int i = 0; i < 1000 && r.viewer.plain.size() < size; i++)
            r.read();
        REQUIRE(r.viewer.plain.size() == size);
        r.viewer.plain.clear();
    }
    r.wire_bytes = 0;
}

} // namespace

TEST_CASE("minbuf: inside TLS nothing is encrypted before the rule admits it")
{
    tls_rig r;
    transport *t = open(r.pair, "minbuf:1,3");
    const size_t size = t->media.max_packet;
    const std::vector<uint8_t> body(size, 'x');
    media_packet packet{};
    packet.body = body.data();
    packet.body_len = size;
    pass_first_window(r, t, packet);
    size_t sent = 0, records = 0;
    while (t->ops->media.room(&t->media, LATER)) {
        REQUIRE(t->ops->media.send(&t->media, TRACK_VIDEO, &packet, LATER) == 0);
        t->ops->media.flush(&t->media, LATER);
        sent++;
        records++;
        REQUIRE(sent < 100000);
    }
    // The kernel has all that was encrypted, apart from one record at most; what the rule refuses
    // can still be dropped.
    const uint32_t unsent = tcp_notsent_bytes(tcp_conn_fd(r.pair.conn));
    CHECK(sent > 0);
    CHECK(t->ops->media.send(&t->media, TRACK_VIDEO, &packet, LATER) == ERR_AGAIN);
    t->ops->media.flush(&t->media, LATER);
    CHECK(tcp_notsent_bytes(tcp_conn_fd(r.pair.conn)) == unsent);
    tcp_snapshot s{};
    REQUIRE(tcp_info_read(tcp_conn_fd(r.pair.conn), &s) == 0);
    CHECK(s.notsent_bytes <= (3 + 1) * s.mss);

    // A packet with its framing and its record is a segment of the path, as without TLS.
    CHECK(4 + size + 22 == (s.mss > 1460 ? 1448 : s.mss));
    for (int i = 0; i < 1000 && r.viewer.plain.size() < sent * (4 + size); i++) {
        uv_run(&r.pair.loop, UV_RUN_NOWAIT);
        r.read();
    }
    CHECK(r.viewer.err == 0);
    CHECK(r.viewer.plain.size() == sent * (4 + size));
    CHECK(r.wire_bytes == sent * (4 + size) + records * 22);
    t->ops->free(t);
}

TEST_CASE("minbuf: a batch inside TLS is one record")
{
    tls_rig r;
    transport *t = open(r.pair, "minbuf:1,3");
    const std::vector<uint8_t> body(t->media.max_packet, 'x');
    media_packet packet{};
    packet.body = body.data();
    packet.body_len = body.size();
    pass_first_window(r, t, packet);
    for (int i = 0; i < 5; i++) {
        REQUIRE(t->ops->media.room(&t->media, LATER));
        REQUIRE(t->ops->media.send(&t->media, TRACK_VIDEO, &packet, LATER) == 0);
    }
    t->ops->media.flush(&t->media, LATER);
    for (int i = 0; i < 1000 && r.viewer.plain.size() < 5 * (4 + body.size()); i++)
        r.read();
    CHECK(r.viewer.plain.size() == 5 * (4 + body.size()));
    CHECK(r.wire_bytes == r.viewer.plain.size() + 22);
    t->ops->free(t);
}
