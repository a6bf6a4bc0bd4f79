// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/queue_drops.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/rng.h"

namespace
{
struct drops {
    queue_drops *q;

    explicit drops(uint16_t first) : q(queue_drops_new(first))
    {
        REQUIRE(q);
    }
    ~drops()
    {
        queue_drops_free(q);
    }
    drops(const drops &) = delete;
    drops &operator=(const drops &) = delete;

    // The number on the wire; -1: must not leave.
    int leaves(uint16_t seq, uint32_t frame)
    {
        uint16_t wire;
        return queue_drops_leaves(q, seq, frame, &wire) ? wire : -1;
    }
    bool add(uint16_t seq, uint32_t frame)
    {
        return queue_drops_add(q, seq, frame);
    }
};
} // namespace

TEST_CASE("queue_drops: what was dropped leaves no gap, and a copy keeps its packet's number")
{
    drops d(65533);
    CHECK(d.leaves(65533, 1) == 65533);
    CHECK(d.add(65534, 2));
    CHECK(d.add(65535, 2));
    CHECK(d.leaves(0, 3) == 65534);
    CHECK(d.leaves(1, 3) == 65535);
    CHECK(d.add(2, 4));
    CHECK(d.leaves(3, 5) == 0);
    // Copies, and what the queue drops of them.
    CHECK(d.leaves(65533, 1) == 65533);
    CHECK(d.leaves(0, 3) == 65534);
    CHECK(d.leaves(1, 3) == 65535);
    CHECK_FALSE(d.add(1, 3));
    CHECK(d.leaves(4, 5) == 1);
    // A deliberate gap of two stays one.
    CHECK(d.leaves(7, 6) == 4);
    struct row {
        uint16_t wire, written;
    };
    for (const row &r :
         std::vector<row>{{65533, 65533}, {65534, 0}, {65535, 1}, {0, 3}, {1, 4}, {4, 7}}) {
        INFO(r.wire);
        CHECK(queue_drops_written(d.q, r.wire) == r.written);
        CHECK(queue_drops_wire(d.q, r.written) == r.wire);
    }
    CHECK(queue_drops_wire(d.q, 8) == 5); // of the next packet
}

TEST_CASE("queue_drops: behind a packet that was dropped within a frame, none of the frame leaves")
{
    drops d(10);
    CHECK(d.leaves(10, 1) == 10);
    CHECK(d.add(11, 1));
    CHECK(d.leaves(12, 1) == -1);
    CHECK(d.add(12, 1));
    CHECK(d.leaves(13, 1) == -1);
    CHECK(d.add(13, 1));
    CHECK(d.leaves(14, 2) == 11);
    // A frame that lacks its begin is no danger: the viewer sees that.
    CHECK(d.add(15, 3));
    CHECK(d.leaves(16, 3) == 12);
    CHECK(d.leaves(17, 3) == 13);
    // A frame written before the dropped ones still leaves: the queue dropped behind it.
    CHECK(d.add(20, 5));
    CHECK(d.leaves(18, 4) == 14);
    CHECK(d.add(19, 5)); // dropped later, though written earlier
    CHECK(d.leaves(21, 6) == 15);
    CHECK(queue_drops_written(d.q, 15) == 21);
    CHECK(queue_drops_written(d.q, 14) == 18);
}

TEST_CASE("queue_drops: a long stream, and copies older than what is remembered do not leave")
{
    drops d(0);
    rng r = rng_seeded(3);
    uint16_t wire = 0;
    std::vector<uint16_t> of; // by number on the wire
    for (uint32_t i = 0; i < 200000; i++) {
        uint16_t seq = static_cast<uint16_t>(i);
        if (rng_unit(&r) < 0.3) {
            REQUIRE(d.add(seq, i));
            continue;
        }
        REQUIRE(d.leaves(seq, i) == wire++);
        of.push_back(seq);
        size_t back = of.size() > 1000 ? of.size() - 1000 : 0;
        REQUIRE(queue_drops_written(d.q, static_cast<uint16_t>(back)) == of[back]);
        REQUIRE(d.leaves(of[back], 0) == static_cast<uint16_t>(back));
    }
    CHECK(d.leaves(of[of.size() - 12000], 0) == -1);
}

TEST_CASE("queue_drops: media leaves again after the queue dropped for more than the 16 bits last")
{
    drops d(0);
    REQUIRE(d.leaves(0, 0) == 0);
    for (uint32_t i = 1; i <= 100000; i++)
        REQUIRE(d.add(static_cast<uint16_t>(i), i));
    CHECK(queue_drops_wire(d.q, static_cast<uint16_t>(100001)) == 1);
    for (uint32_t i = 1; i <= 3000; i++) {
        uint16_t seq = static_cast<uint16_t>(100000 + i);
        REQUIRE(d.leaves(seq, 100000 + i) == static_cast<int>(i));
        REQUIRE(queue_drops_written(d.q, static_cast<uint16_t>(i)) == seq);
    }
}
