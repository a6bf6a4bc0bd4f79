// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <sys/socket.h>

#include <cstdint>

#include "common/net/tcp_conn.h"
#include "common/transport/transport.h"
#include "tests/support/tcp_pair.hpp"

namespace
{

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
