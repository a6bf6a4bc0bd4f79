// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/base/err.h"
#include "tests/unit/common/transport/slow_reader.hpp"

TEST_CASE("tcp: parameters")
{
    const struct {
        const char *name;
        int result;
    } table[] = {
        {"tcp", 0},
        {"tcp:", 0},
        {"tcp:notsent=1", 0},
        {"tcp:notsent=16384", 0},
        {"tcp:notsent=16777216", 0},
        {"tcp:notsent=16777217", ERR_RANGE},
        {"tcp:notsent=4294967297", ERR_RANGE},
        {"tcp:notsent=0", ERR_RANGE},
        {"tcp:notsent=99999999999999999999", ERR_MALFORMED},
        {"tcp:notsent=", ERR_MALFORMED},
        {"tcp:notsent=-1", ERR_MALFORMED},
        {"tcp:notsent= 1", ERR_MALFORMED},
        {"tcp:notsent=1k", ERR_MALFORMED},
        {"tcp:notsent", ERR_MALFORMED},
        {"tcp:NOTSENT=1", ERR_MALFORMED},
        {"tcp:5", ERR_MALFORMED},
    };
    for (const auto &row : table) {
        INFO(row.name);
        const transport_kind *kind;
        const char *params;
        CHECK(transport_find(row.name, &kind, &params) == row.result);
    }
}

TEST_CASE("tcp:notsent: at most one packet stands above the mark")
{
    for (uint32_t mark : {1u, 1000u, 16384u, 40000u}) {
        INFO(mark);
        slow_reader c(("tcp:notsent=" + std::to_string(mark)).c_str());
        CHECK(c.lowat() == static_cast<int>(mark));
        c.fill();
        CHECK(c.unsent() >= mark);
        CHECK(c.unsent() < mark + PACKET + 4);
        for (int i = 0; i < 10; i++) // nothing is read, so nothing changes
            uv_run(&c.loop, UV_RUN_NOWAIT);
        CHECK(c.rooms == 0);
    }
}

TEST_CASE("tcp:notsent: the kernel wakes below half of the mark")
{
    slow_reader c("tcp:notsent=16384");
    c.fill();
    c.read_until_room();
    CHECK(c.rooms == 1);
    CHECK(c.unsent() < 16384 / 2);
    for (int i = 0; i < 10; i++) // who has been told is not told again
        uv_run(&c.loop, UV_RUN_NOWAIT);
    CHECK(c.rooms == 1);
    CHECK(c.t->ops->room(c.t, 0));
    c.fill();
    CHECK(c.unsent() >= 16384);
    c.read_until_room();
    CHECK(c.rooms == 2);
}

TEST_CASE("tcp: without a mark the send buffer fills")
{
    slow_reader c("tcp");
    CHECK(c.lowat() == 0);
    c.fill();
    CHECK(c.unsent() > 16384);
}

TEST_CASE("tcp:notsent: the mark goes with the transport")
{
    slow_reader c("tcp:notsent=16384");
    c.t->ops->free(c.t);
    CHECK(c.lowat() == 0);
    c.open("tcp");
    CHECK(c.lowat() == 0);
}
