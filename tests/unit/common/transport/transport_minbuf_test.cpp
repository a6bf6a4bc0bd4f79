// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "tests/unit/common/transport/slow_reader.hpp"

TEST_CASE("minbuf: what a slow reader's window does not take is not written")
{
    for (int b : {1, 3}) {
        INFO(b);
        slow_reader c(("minbuf:1," + std::to_string(b)).c_str());
        REQUIRE(c.snapshot().peer_window < c.snapshot().cwnd * c.snapshot().mss);
        c.fill();
        CHECK(c.unsent() <= (1 + b) * c.snapshot().mss);
        c.read_until_room(); // also when the window was closed
        CHECK(c.rooms == 1);
        c.fill();
        CHECK(c.unsent() <= (1 + b) * c.snapshot().mss);
    }
}
