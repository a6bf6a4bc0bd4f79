// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_gate.h"

#include <catch2/catch.hpp>

namespace
{

const usec_t FRAME = 40000; // 25 frames/s

struct stream {
    record_gate g;
    explicit stream(usec_t segment = 0, usec_t key_every = 0)
    {
        record_gate_init(&g, segment, key_every);
    }
    record_verdict give(int64_t number, int64_t depends_on, int size = 0)
    {
        record_candidate f{number, depends_on, size, depends_on < 0, number * FRAME};
        return record_gate_frame(&g, &f);
    }
    bool wants(int64_t number, bool needs = false)
    {
        return record_gate_wants_key(&g, needs, number * FRAME);
    }
};

} // namespace

TEST_CASE("record_gate: it begins with a key frame, which it asks for")
{
    stream s;
    CHECK(s.give(10, 9) == RECORD_SKIP);
    CHECK(s.wants(10));
    CHECK_FALSE(s.wants(11));
    CHECK_FALSE(s.wants(59));
    CHECK(s.wants(60)); // 2 s later: the request was in vain
    CHECK(s.give(61, -1) == RECORD_BEGIN);
    CHECK(s.give(62, 61) == RECORD_FRAME);
    CHECK(s.give(63, -1) == RECORD_FRAME); // another key frame begins no file
    CHECK_FALSE(s.wants(1000));
}

TEST_CASE("record_gate: what depends on a lost frame is not recorded")
{
    stream s;
    s.give(0, -1);
    CHECK(s.give(1, 0) == RECORD_FRAME); // T1
    CHECK(s.give(2, 0) == RECORD_FRAME); // T0
    CHECK(s.give(4, 2) == RECORD_FRAME); // T0; 3 is lost, and nothing depends on it
    CHECK(s.give(7, 6) == RECORD_SKIP);  // 6 is lost
    CHECK(s.give(8, 6) == RECORD_SKIP);
    CHECK_FALSE(s.wants(8));
    CHECK(s.give(10, 4) == RECORD_FRAME); // repaired: it depends on an older one
    for (int n = 12; n < 22; n += 2)
        CHECK(s.give(n, n - 1) == RECORD_SKIP);
    CHECK_FALSE(s.wants(21));
    CHECK(s.give(23, 21) == RECORD_SKIP); // half a second without a frame
    CHECK(s.wants(23));
    CHECK(s.give(24, 10) == RECORD_SKIP); // up to the key frame
    CHECK(s.give(26, -1) == RECORD_FRAME);
    CHECK(s.give(27, 10) == RECORD_SKIP);
}

TEST_CASE("record_gate: frames of two sizes have the same numbers")
{
    stream s;
    s.give(0, -1, 1);
    CHECK(s.give(1, 0, 1) == RECORD_FRAME);
    CHECK(s.give(2, 1, 0) == RECORD_SKIP);
    CHECK(s.give(2, -1, 0) == RECORD_FRAME);
    CHECK(s.give(3, 2, 0) == RECORD_FRAME);
}

TEST_CASE("record_gate: a segment ends at the first key frame after its time")
{
    stream s(10 * USEC_PER_SEC);
    CHECK(s.give(0, -1) == RECORD_BEGIN);
    CHECK(s.give(125, -1) == RECORD_FRAME);
    CHECK_FALSE(s.wants(249));
    CHECK(s.wants(250));
    CHECK(s.give(251, 125) == RECORD_FRAME);
    CHECK(s.give(252, -1) == RECORD_BEGIN);
    CHECK_FALSE(s.wants(400));
    CHECK(s.give(502, -1) == RECORD_BEGIN);
}

TEST_CASE("record_gate: key frames at intervals")
{
    stream s(0, 4 * USEC_PER_SEC);
    s.give(0, -1);
    CHECK_FALSE(s.wants(99));
    CHECK(s.wants(100));
    CHECK_FALSE(s.wants(120));
    s.give(104, -1);
    CHECK_FALSE(s.wants(203));
    CHECK(s.wants(204));
}

TEST_CASE("record_gate: after a gap of the writer it waits for a key frame")
{
    stream s;
    s.give(0, -1);
    record_gate_lost(&s.g);
    CHECK(s.wants(1));
    CHECK(s.give(1, 0) == RECORD_SKIP);
    CHECK(s.give(2, -1) == RECORD_FRAME);
    CHECK_FALSE(s.wants(100));
    CHECK(s.wants(100, true)); // the writer has no file
}
