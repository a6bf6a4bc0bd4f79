// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/tcp_sender.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace
{
using seqs = std::vector<int64_t>;

struct sender : tcp_sender {
    explicit sender(enum tcp_variant variant, double initial_window, double max_window = 1000,
                    int64_t packets = INT64_MAX, enum tcp_growth growth = TCP_PER_ACK,
                    bool validates = false)
    {
        tcp_sender_config c = {variant, packets, initial_window, max_window, USEC_PER_SEC,
                               false,   growth,  validates,      false};
        REQUIRE(tcp_sender_init(this, &c) == 0);
    }
    ~sender()
    {
        tcp_sender_destroy(this);
    }
    sender(const sender &) = delete;
    sender &operator=(const sender &) = delete;

    seqs pull(usec_t now = 0)
    {
        seqs all;
        for (int64_t seq; (seq = tcp_sender_pull(this, now)) >= 0;)
            all.push_back(seq);
        return all;
    }
    seqs ack_at(usec_t now, int64_t up_to, std::vector<tcp_sack_block> blocks = {})
    {
        tcp_ack a = {up_to, static_cast<int>(blocks.size()), {}};
        for (size_t i = 0; i < blocks.size(); i++)
            a.block[i] = blocks[i];
        tcp_sender_ack(this, &a, now);
        return pull(now);
    }
    seqs acks(int64_t up_to, std::vector<tcp_sack_block> blocks = {})
    {
        return ack_at(0, up_to, blocks);
    }
};
} // namespace

TEST_CASE("tcp_sender: slow start adds a packet per ACK, then one per window")
{
    sender s(TCP_RENO, 2, 1000);
    s.ssthresh = 4;
    CHECK(s.pull() == seqs{0, 1});
    CHECK(s.acks(1) == seqs{2, 3}); // cwnd 3
    CHECK(s.acks(2) == seqs{4, 5}); // 4
    CHECK(s.acks(3) == seqs{6});    // 4.25: congestion avoidance
    CHECK(s.cwnd == Approx(4.25));
    CHECK(s.acks(4) == seqs{7}); // 4.25 + 1 / 4.25
    CHECK(s.cwnd == Approx(4.25 + 1 / 4.25));
    CHECK(s.acks(6) == seqs{8, 9}); // a delayed ACK: two left, + 1 / cwnd
}

TEST_CASE("tcp_sender: time stamps also time retransmitted packets")
{
    sender s(TCP_RENO, 2);
    s.config.timestamps = true;
    s.pull(0);
    tcp_ack one = {1, 0, {}};
    tcp_sender_echo(&s, &one, 0, 50000);
    s.ack_at(50000, 1);
    CHECK(s.rto.srtt == 50000);
    tcp_sender_timeout(&s, s.rto_at);
    CHECK(s.rto.backoff == 1);
    s.pull(s.rto_at);
    tcp_ack none = {1, 0, {}};
    tcp_sender_echo(&s, &none, 0, 1200000); // not news
    CHECK(s.rto.backoff == 1);
    tcp_ack two = {2, 0, {}};
    tcp_sender_echo(&s, &two, 1150000, 1200000); // of a retransmission
    s.ack_at(1200000, 2);
    CHECK(s.rto.backoff == 0);
    CHECK(s.rto.srtt == 50000);
}

TEST_CASE("tcp_sender: congestion avoidance that counts ACKs")
{
    sender s(TCP_RENO, 2, 1000, INT64_MAX, TCP_COUNT_ACKS);
    s.ssthresh = 2;
    CHECK(s.pull() == seqs{0, 1});
    CHECK(s.acks(1) == seqs{2});
    CHECK(s.cwnd == 2);
    CHECK(s.acks(2) == seqs{3, 4}); // the second of two: 3
    CHECK(s.acks(3) == seqs{5});
    CHECK(s.acks(4) == seqs{6});
    CHECK(s.acks(5) == seqs{7, 8}); // the third of three
    CHECK(s.cwnd == 4);
    // The half of 5 is 2: whole packets.
    CHECK(s.acks(6) == seqs{9});
    s.cwnd = 5;
    CHECK(s.acks(7) == seqs{10, 11});
    CHECK(s.acks(7) == seqs{12});
    CHECK(s.acks(7) == seqs{13});
    CHECK(s.acks(7) == seqs{7});
    CHECK(s.cwnd == 2);
    CHECK(s.ssthresh == 2);
    CHECK(s.acks(14) == seqs{14, 15});
    // A timeout begins to count anew.
    CHECK(s.acks(15) == seqs{16});
    CHECK(s.tcp_sender::acks == 1);
    tcp_sender_timeout(&s, s.rto_at);
    CHECK(s.tcp_sender::acks == 0);
}

TEST_CASE("tcp_sender: the window has a max, and a transfer an end")
{
    sender s(TCP_RENO, 2, 3, 6);
    CHECK(s.pull() == seqs{0, 1});
    CHECK(s.acks(1) == seqs{2, 3});
    CHECK(s.acks(2) == seqs{4});
    CHECK(s.acks(5) == seqs{5});
    CHECK_FALSE(tcp_sender_done(&s));
    CHECK(s.acks(6).empty());
    CHECK(tcp_sender_done(&s));
    CHECK(tcp_sender_next_timeout(&s) == USEC_NEVER);
    tcp_sender_restart(&s, 1);
    CHECK(s.pull() == seqs{0});
}

// 0 is lost of 0 .. 7.
TEST_CASE("tcp_sender: limited transmit, fast retransmit, inflation, deflation")
{
    auto variant = GENERATE(TCP_RENO, TCP_NEWRENO);
    sender s(variant, 8);
    CHECK(s.pull().size() == 8);
    CHECK(s.acks(0) == seqs{8}); // RFC 3042
    CHECK(s.acks(0) == seqs{9});
    CHECK(s.acks(0) == seqs{0}); // RFC 5681, 3.2
    CHECK(s.ssthresh == 4);
    for (int i = 4; i <= 6; i++)
        CHECK(s.acks(0).empty()); // 4 + 6 = 10 are out
    CHECK(s.acks(0) == seqs{10});
    CHECK(s.acks(0) == seqs{11});
    CHECK(s.acks(0) == seqs{12});
    CHECK(s.acks(10) == seqs{13}); // 10 .. 12 and one more: 4
    CHECK(s.cwnd == 4);
    CHECK_FALSE(s.in_recovery);
    CHECK(s.fast_retransmits == 1);
}

// 0 and 4 are lost of 0 .. 7.
TEST_CASE("tcp_sender: a partial ACK")
{
    auto variant = GENERATE(TCP_RENO, TCP_NEWRENO);
    sender s(variant, 8);
    s.pull();
    for (int i = 1; i <= 3; i++)
        s.acks(0); // 8, 9, 0
    for (int i = 4; i <= 6; i++)
        CHECK(s.acks(0).empty());
    CHECK(s.acks(0) == seqs{10}); // 4 + 7
    CHECK(s.acks(0) == seqs{11});
    if (variant == TCP_RENO) {
        CHECK(s.acks(4).empty()); // out: 4 .. 11, the window is 4 again: the timer has to
        CHECK_FALSE(s.in_recovery);
        return;
    }
    // RFC 6582: 4 is sent again; inflation 8 - 4 + 1 = 5, window 9: from 4 to 12.
    CHECK(s.acks(4) == seqs{4, 12});
    CHECK(s.in_recovery);
    CHECK(s.acks(10) == seqs{13}); // all that was out: window 4
    CHECK_FALSE(s.in_recovery);
    CHECK(s.timeouts == 0);
}

TEST_CASE("tcp_sender: timeouts double until a new packet is timed")
{
    sender s(TCP_RENO, 2);
    s.pull(0);
    static const struct {
        usec_t at, next;
    } table[] = {{1, 3}, {3, 7}, {7, 15}};
    for (const auto &row : table) {
        REQUIRE(tcp_sender_next_timeout(&s) == row.at * USEC_PER_SEC);
        tcp_sender_timeout(&s, row.at * USEC_PER_SEC);
        CHECK(s.pull(row.at * USEC_PER_SEC) == seqs{0});
        CHECK(tcp_sender_next_timeout(&s) == row.next * USEC_PER_SEC);
    }
    CHECK(s.cwnd == 1);
    CHECK(s.ssthresh == 2);
    usec_t t = 7100000;
    CHECK(s.ack_at(t, 2) == seqs{2, 3});                        // 0 was sent again: no sample
    CHECK(tcp_sender_next_timeout(&s) == t + 8 * USEC_PER_SEC); // still backed off
    CHECK(s.ack_at(t + 100000, 3) == seqs{4});                  // congestion avoidance from 2 on
    CHECK(s.rto.srtt == 100000);
    CHECK(tcp_sender_next_timeout(&s) == t + 100000 + USEC_PER_SEC); // the least
}

TEST_CASE(
    "tcp_sender: after a timeout all is retransmitted, and duplicates do not halve the window")
{
    sender s(TCP_NEWRENO, 8);
    s.pull(0);
    tcp_sender_timeout(&s, USEC_PER_SEC);
    CHECK(s.ssthresh == 4);
    CHECK(s.pull() == seqs{0});
    CHECK(s.acks(1) == seqs{1, 2}); // slow start
    for (int i = 0; i < 5; i++)
        s.acks(1); // the receiver had 2 .. 7 already
    CHECK(s.fast_retransmits == 0);
    CHECK(s.cwnd == 2);
    CHECK(s.acks(8) == seqs{8, 9, 10});
}

// 0, 2 and 3 are lost of 0 .. 7. RFC 6675: pipe is what is neither SACKed nor lost, and what was
// sent again.
TEST_CASE("tcp_sender: SACK sends by its pipe")
{
    sender s(TCP_SACK, 8);
    s.pull();
    CHECK(s.acks(0, {{1, 2}}) == seqs{8});
    CHECK(s.acks(0, {{4, 5}, {1, 2}}) == seqs{9});
    CHECK(s.acks(0, {{4, 6}, {1, 2}}) == seqs{0});
    CHECK(s.ssthresh == 4);
    CHECK(s.pipe == 7); // 0 again; 2 3 6 7 8 9, of which none has three above it
    static const struct {
        int64_t sacked_end, pipe;
        int64_t sent; // -1: none
    } table[] = {
        {7, 4, -1}, // 4 5 6 above: 2 and 3 are lost. 0 again; 7 8 9
        {8, 4, 2},  // 0; 8 9; and 2
        {9, 4, 3},  // 0 2; 9; and 3
        {10, 4, 10} // 0 2 3; and a new one
    };
    for (const auto &row : table) {
        CHECK(s.acks(0, {{4, row.sacked_end}, {1, 2}}) == (row.sent < 0 ? seqs{} : seqs{row.sent}));
        CHECK(s.pipe == row.pipe);
    }
    CHECK(s.acks(2, {{4, 10}}) == seqs{11}); // partial: 2 3; 10; and 11
    CHECK(s.acks(10).size() == 2);           // 10 11 are out, the window is 4
    CHECK_FALSE(s.in_recovery);
    CHECK(s.retransmits == 3);
}

TEST_CASE("tcp_sender: after a timeout SACK skips what the receiver has")
{
    sender s(TCP_SACK, 6);
    s.pull();
    s.acks(0, {{2, 3}}); // lets 6 out
    tcp_sender_timeout(&s, USEC_PER_SEC);
    CHECK(s.pull() == seqs{0});
    CHECK(s.acks(1, {{2, 3}}) == seqs{1}); // 2 fills the window, and the receiver has it
    CHECK(s.acks(3) == seqs{3, 4, 5});
}

TEST_CASE("tcp_sender: ACKs of unsent data, and old ACKs, change nothing")
{
    sender s(TCP_SACK, 4);
    s.pull();
    CHECK(s.acks(5).empty());
    CHECK(s.una == 0);
    s.acks(2);
    double cwnd = s.cwnd;
    CHECK(s.acks(1).empty());
    CHECK(s.cwnd == cwnd);
    CHECK(s.dupacks == 0);
    CHECK(s.acks(2, {{100, 200}}).size() <= 1); // beyond what was sent: ignored
    CHECK(tcp_scoreboard_pipe(&s.board, s.high) == s.high - s.una);
}

TEST_CASE("tcp_sender: an application that writes in small pieces")
{
    sender s(TCP_NEWRENO, 2, 1000, 0);
    CHECK(s.pull().empty());
    tcp_sender_supply(&s, 1);
    CHECK(s.pull() == seqs{0});
    tcp_sender_supply(&s, 4);
    CHECK(s.pull() == seqs{1}); // the window has two
    CHECK(s.acks(1) == seqs{2, 3});
    CHECK(tcp_sender_next_timeout(&s) != USEC_NEVER);
    CHECK(s.acks(4).empty());
    CHECK(tcp_sender_done(&s));
    CHECK(tcp_sender_next_timeout(&s) == USEC_NEVER);
}

TEST_CASE("tcp_sender: with window validation, an unused window does not grow")
{
    for (bool validates : {false, true}) {
        sender s(TCP_NEWRENO, 8, 1000, 0, TCP_PER_ACK, validates);
        for (int64_t seq = 0; seq < 10; seq++) { // one packet a round trip
            tcp_sender_supply(&s, seq + 1);
            CHECK(s.pull() == seqs{seq});
            s.acks(seq + 1);
        }
        CHECK(s.cwnd == (validates ? 8 : 18));
        tcp_sender_supply(&s, 10 + (int64_t)s.cwnd / 2); // half of it
        s.pull();
        double before = s.cwnd;
        s.acks(11);
        CHECK(s.cwnd == before + 1);
    }
}
