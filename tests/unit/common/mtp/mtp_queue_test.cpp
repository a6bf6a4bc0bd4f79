// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/mtp/mtp_queue.h"

namespace
{

struct rig {
    mtp_queue q;
    std::string dropped; // frames

    explicit rig(mtp_queue_config c)
    {
        c.owner = this;
        c.lost = [](void *owner, const mtp_packet *p) {
            CHECK(p->number == -1);
            static_cast<rig *>(owner)->dropped += std::to_string(p->frame);
        };
        mtp_queue_init(&q, &c);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;
    ~rig()
    {
        mtp_queue_destroy(&q);
    }

    int push(uint16_t len, int64_t frame, usec_t now = 0, const tcp_snapshot *net = nullptr)
    {
        std::vector<uint8_t> bytes(len, (uint8_t)frame);
        return mtp_queue_push(&q, bytes.data(), len, frame, false, net, now);
    }
    // Removes the remaining packets and returns their frames.
    std::string rest(usec_t now = 0)
    {
        std::string all;
        while (mtp_packet *p = mtp_queue_pop(&q, now)) {
            CHECK((p->len == 0 || p->bytes[p->len - 1] == (uint8_t)p->frame));
            all += std::to_string(p->frame);
            free(p);
        }
        CHECK(q.packets == 0);
        CHECK(q.bytes == 0);
        return all;
    }
};

mtp_queue_config bytes(size_t n)
{
    mtp_queue_config c{};
    c.bytes = n;
    return c;
}

} // namespace

TEST_CASE("mtp_queue: a full queue drops packets from the front")
{
    rig r(bytes(1000));
    CHECK(r.push(400, 1) == 0);
    CHECK(r.push(400, 1) == 0);
    CHECK(r.push(200, 2) == 0); // 1000 fit
    CHECK(r.dropped == "");
    CHECK(r.push(1, 3) == 0);
    CHECK(r.dropped == "1");
    CHECK(r.push(900, 4) == 0); // 601 + 900: two more have to go
    CHECK(r.dropped == "112");
    CHECK(r.q.dropped == 3);
    CHECK(r.q.dropped_bytes == 1000);
    CHECK(r.rest() == "34");
}

TEST_CASE("mtp_queue: an empty queue accepts a packet beyond its bound")
{
    rig r(bytes(100));
    CHECK(r.push(400, 1) == 0);
    CHECK(r.push(400, 2) == 0);
    CHECK(r.dropped == "1");
    CHECK(r.rest() == "2");
}

TEST_CASE("mtp_queue: the owner may change a packet that leaves, or have it dropped")
{
    mtp_queue_config c = bytes(10000);
    c.leaves = [](void *, mtp_packet *p) {
        p->bytes[0] = 77;
        return p->frame != 2;
    };
    rig r(c);
    for (int64_t frame : {1, 2, 2, 3, 2})
        CHECK(r.push(100, frame) == 0);
    mtp_packet *p = mtp_queue_pop(&r.q, 0);
    REQUIRE(p);
    CHECK(p->bytes[0] == 77);
    free(p);
    CHECK(r.dropped == "");
    CHECK(r.rest() == "3");
    CHECK(r.dropped == "222");
    CHECK(r.q.dropped == 3);
}

TEST_CASE("mtp_queue: whole frames are dropped, including packets written later")
{
    mtp_queue_config c = bytes(1000);
    c.whole_frames = true;
    rig r(c);
    for (int64_t frame : {1, 1, 2, 1, 2, 3, 3, 3, 3, 3})
        CHECK(r.push(100, frame) == 0);
    CHECK(r.push(100, 4) == 0);
    CHECK(r.dropped == "111");
    CHECK(r.push(100, 1) == 0); // the rest of a doomed frame
    CHECK(r.dropped == "1111");
    CHECK(r.rest() == "22333334");

    // A frame that is larger than the queue dooms itself.
    rig large(c);
    for (int i = 0; i < 15; i++)
        CHECK(large.push(100, 7) == 0);
    CHECK(large.dropped == "777777777777777");
    CHECK(large.push(100, 8) == 0);
    CHECK(large.rest() == "8");
}

TEST_CASE("mtp_queue: a blocking queue refuses, and drops nothing")
{
    mtp_queue_config c{}; // 64 KB by default
    c.block = true;
    rig r(c);
    CHECK(r.push(65535, 1) == 0);
    CHECK(mtp_queue_has_room(&r.q, 1, nullptr, 0));
    CHECK_FALSE(mtp_queue_has_room(&r.q, 2, nullptr, 0));
    CHECK(r.push(2, 2) == ERR_AGAIN);
    CHECK(r.push(1, 3) == 0);
    CHECK(r.dropped == "");
    CHECK(r.rest() == "13");
}

TEST_CASE("mtp_queue: a bound on the time that a packet waits")
{
    mtp_queue_config c{};
    c.wait = 100;
    rig r(c);
    for (int64_t i = 0; i < 5; i++)
        CHECK(r.push(10, i, 40 * i) == 0);
    CHECK(r.dropped == "01"); // at 160 they had waited for 160 and 120
    CHECK(r.push(10, 5, 161) == 0);
    CHECK(r.rest(180) == "2345"); // exactly 100 is not too long
    CHECK(r.push(10, 6, 200) == 0);
    CHECK(r.rest(301) == "");
    CHECK(r.dropped == "016");
}

TEST_CASE("mtp_queue: the dynamic bound, MIN_BUF(A,B)")
{
    mtp_queue_config c{};
    c.dynamic = true;
    REQUIRE(minbuf_parse("1,3", &c.minbuf) == 0);
    tcp_snapshot net{};
    net.cwnd = 4;
    net.unacked = 4;
    net.mss = 1000;
    rig r(c); // 4 in flight and 3 more
    for (int64_t i = 0; i < 4; i++)
        CHECK(r.push(10, i, 0, &net) == 0);
    CHECK(r.dropped == "0");
    net.sacked = 1; // one of those in flight is not in the network
    CHECK(mtp_queue_has_room(&r.q, 10, &net, 0));
    net.sacked = 0;
    CHECK_FALSE(mtp_queue_has_room(&r.q, 10, &net, 0));
    net.cwnd = 1; // 1 + 1, and 4 in flight: only an empty queue takes one
    CHECK(r.push(10, 4, 0, &net) == 0);
    CHECK(r.dropped == "0123");
    CHECK(r.rest() == "4");

    c.block = true;
    rig blocks(c);
    net.cwnd = 4;
    for (int64_t i = 0; i < 3; i++)
        CHECK(blocks.push(10, i, 0, &net) == 0);
    CHECK(blocks.push(10, 3, 0, &net) == ERR_AGAIN);
}
