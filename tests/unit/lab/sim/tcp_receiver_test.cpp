// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/tcp_receiver.h"

#include <catch2/catch.hpp>

#include <utility>
#include <vector>

namespace
{
using blocks = std::vector<std::pair<int64_t, int64_t>>;

struct receiver : tcp_receiver {
    explicit receiver(usec_t ack_delay, bool with_sack = false)
    {
        REQUIRE(tcp_receiver_init(this, ack_delay, with_sack) == 0);
    }
    ~receiver()
    {
        tcp_receiver_destroy(this);
    }
    receiver(const receiver &) = delete;
    receiver &operator=(const receiver &) = delete;
};

blocks blocks_of(const tcp_ack &a)
{
    blocks b;
    for (int i = 0; i < a.blocks; i++)
        b.emplace_back(a.block[i].begin, a.block[i].end);
    return b;
}
} // namespace

TEST_CASE("tcp_receiver: when an ACK is due, and its content")
{
    static const struct {
        usec_t at;
        int64_t seq;
        usec_t due; // 0: at once
        int64_t next;
    } table[] = {
        {1000, 0, 101000, 1}, // the first waits
        {2000, 1, 0, 2},      // the second does not
        {3000, 2, 103000, 3}, //
        {4000, 4, 0, 3},      // a hole
        {5000, 5, 0, 3},      // behind it
        {6000, 3, 0, 6},      // filled
        {7000, 3, 0, 6},      // again
        {8000, 6, 108000, 7}, //
    };
    receiver r(100000);
    for (const auto &row : table) {
        CAPTURE(row.at);
        tcp_receiver_packet(&r, row.seq, row.at);
        CHECK(tcp_receiver_next_ack(&r) == (row.due ? row.due : row.at));
        if (row.due)
            continue;
        tcp_ack a;
        tcp_receiver_ack(&r, &a);
        CHECK(a.next == row.next);
        CHECK(a.blocks == 0);
        CHECK(tcp_receiver_next_ack(&r) == USEC_NEVER);
    }
}

TEST_CASE("tcp_receiver: no delay, every packet at once")
{
    receiver r(0);
    for (int i = 0; i < 3; i++) {
        tcp_receiver_packet(&r, i, i);
        CHECK(tcp_receiver_next_ack(&r) == i);
        tcp_ack a;
        tcp_receiver_ack(&r, &a);
        CHECK(a.next == i + 1);
    }
}

TEST_CASE("tcp_receiver: SACK blocks, the latest first")
{
    static const struct {
        int64_t seq;
        int64_t next;
        blocks says;
    } table[] = {
        {0, 1, {}},
        {2, 1, {{2, 3}}},
        {4, 1, {{4, 5}, {2, 3}}},
        {6, 1, {{6, 7}, {4, 5}, {2, 3}}},
        {8, 1, {{8, 9}, {6, 7}, {4, 5}}}, // three at most
        {5, 1, {{4, 7}, {8, 9}}},         // joins two
        {1, 3, {{4, 7}, {8, 9}}},         // [2, 3) is delivered
        {3, 7, {{8, 9}}},
        {7, 9, {}},
    };
    receiver r(0, true);
    for (const auto &row : table) {
        CAPTURE(row.seq);
        tcp_receiver_packet(&r, row.seq, 0);
        tcp_ack a;
        tcp_receiver_ack(&r, &a);
        CHECK(a.next == row.next);
        CHECK(blocks_of(a) == row.says);
    }
}

TEST_CASE("tcp_receiver: data too far ahead is dropped; a restart clears the state")
{
    receiver r(0, true);
    tcp_receiver_packet(&r, TCP_SPAN, 0);
    CHECK(tcp_receiver_next_ack(&r) == USEC_NEVER);
    tcp_receiver_packet(&r, TCP_SPAN - 1, 0);
    CHECK(r.end == TCP_SPAN);
    tcp_receiver_restart(&r);
    tcp_receiver_packet(&r, 0, 5);
    CHECK(r.next == 1);
    CHECK(tcp_receiver_next_ack(&r) == 5);
}
