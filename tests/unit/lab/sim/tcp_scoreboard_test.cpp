// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/tcp_scoreboard.h"

#include <catch2/catch.hpp>

TEST_CASE("tcp_scoreboard: lost, pipe and the next packet")
{
    static const struct {
        tcp_ack ack;
        int64_t lost_end, pipe, next_lost, next_rest, count;
    } table[] = {
        {{0, 1, {{2, 3}}}, 0, 9, -1, 0, 1},   // of 0 .. 9, 2 is there
        {{0, 1, {{5, 7}}}, 2, 5, 0, 0, 3},    // 2 5 6: 0 and 1 are lost
        {{0, 1, {{5, 7}}}, 2, 5, 0, 0, 3},    // the same again
        {{1, 1, {{7, 8}}}, 5, 2, 1, 1, 4},    // 5 6 7 above: 1 3 4; out 8 9
        {{5, 0, {}}, 5, 2, -1, -1, 3},        // 5 6 7 are SACKed, nothing lies between
        {{8, 1, {{9, 100}}}, 8, 1, -1, 8, 1}, // beyond what was sent is ignored
    };
    tcp_scoreboard b;
    REQUIRE(tcp_scoreboard_init(&b) == 0);
    int at = 0;
    for (const auto &row : table) {
        CAPTURE(at++);
        tcp_scoreboard_ack(&b, &row.ack, 10);
        CHECK(b.lost_end == row.lost_end);
        CHECK(b.count == row.count);
        CHECK(tcp_scoreboard_pipe(&b, 10) == row.pipe);
        CHECK(tcp_scoreboard_next(&b, true) == row.next_lost);
        CHECK(tcp_scoreboard_next(&b, false) == row.next_rest);
    }
    CHECK(tcp_scoreboard_has(&b, 9));
    CHECK_FALSE(tcp_scoreboard_has(&b, 8));
    tcp_scoreboard_clear(&b);
    CHECK_FALSE(tcp_scoreboard_has(&b, 9));
    CHECK(b.count == 0);
    tcp_scoreboard_destroy(&b);
}

TEST_CASE("tcp_scoreboard: a retransmitted packet counts in the pipe, and is not next")
{
    tcp_scoreboard b;
    REQUIRE(tcp_scoreboard_init(&b) == 0);
    tcp_ack a = {0, 1, {{2, 6}}};
    tcp_scoreboard_ack(&b, &a, 6);
    CHECK(tcp_scoreboard_pipe(&b, 6) == 0); // 0 and 1 are lost
    CHECK(tcp_scoreboard_is_lost(&b, 1));
    b.rexmitted = 1;
    CHECK(tcp_scoreboard_pipe(&b, 6) == 1);
    CHECK(tcp_scoreboard_next(&b, true) == 1);
    tcp_scoreboard_destroy(&b);
}
