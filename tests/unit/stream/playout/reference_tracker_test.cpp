// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <memory>
#include <string>

#include "common/base/rng.h"
#include "stream/playout/reference_tracker.h"

namespace
{

const usec_t ms = USEC_PER_MSEC;

// Size 0 has three temporal layers (period 4: T0 T2 T1 T2), sizes 1 two.
ladder three_layers()
{
    ladder l{};
    l.source_fps = {30, 1};
    l.source_width = 640;
    l.source_height = 360;
    l.size_count = 2;
    l.sizes[0] = {320, 180, {30, 1}, 3};
    l.sizes[1] = {640, 360, {30, 1}, 2};
    l.level_count = 2;
    l.levels[0] = {0, 2, 100000};
    l.levels[1] = {1, 1, 200000};
    return l;
}

struct fixture {
    ladder levels = three_layers();
    std::unique_ptr<reference_tracker, void (*)(reference_tracker *)> owner{
        reference_tracker_new(&levels), reference_tracker_free};
    reference_tracker *t = owner.get();

    static received_frame key(int64_t n, int size = 0)
    {
        received_frame f{};
        f.number = n;
        f.size_id = size;
        f.key = true;
        f.depends_on = -1;
        return f;
    }
    received_frame on(int64_t n, int64_t depends_on, int size = 0) const
    {
        received_frame f{};
        f.number = n;
        f.size_id = size;
        f.temporal_id = n < 0 ? 0 : layer_temporal_id(n, levels.sizes[size].layers);
        f.depends_on = depends_on;
        return f;
    }
    // As the encoder of size 0 makes it.
    received_frame usual(int64_t n) const
    {
        return n == 0 ? key(0) : on(n, n % 4 == 0 ? n - 4 : n % 2 == 0 ? n - 2 : n - 1);
    }
    void arrive(const received_frame &f)
    {
        reference_tracker_arrived(t, &f);
    }
    bool decode(const received_frame &f)
    {
        return reference_tracker_decoding(t, &f) == FRAME_DECODABLE;
    }
    bool both(const received_frame &f)
    {
        arrive(f);
        return decode(f);
    }
    bool pli(usec_t at, usec_t rtt = 0)
    {
        return reference_tracker_pli(t, rtt * ms, at * ms);
    }
};

} // namespace

TEST_CASE_METHOD(fixture, "reference_tracker: a whole stream is decodable and asks for nothing")
{
    for (int64_t n = 0; n < 5000; n++) {
        REQUIRE(both(usual(n)));
        REQUIRE_FALSE(pli(n));
    }
    CHECK(reference_tracker_next_timeout(t, 0) == USEC_NEVER);
}

TEST_CASE_METHOD(fixture, "reference_tracker: what rests on a missing frame is broken")
{
    CHECK(both(usual(0)));
    CHECK(both(usual(1)));
    // 2 (T1) is missing: 3 rests on it, 4 does not.
    CHECK_FALSE(both(usual(3)));
    CHECK_FALSE(pli(1)); // a higher layer heals by itself
    CHECK(both(usual(4)));
    // 8 (T0) is missing: all behind it is broken.
    for (int n : {5, 6, 7})
        CHECK(both(usual(n)));
    for (int n : {9, 10, 11, 12, 13})
        CHECK_FALSE(both(usual(n)));
    CHECK(both(key(16)));
    CHECK(both(on(17, 16)));
}

TEST_CASE_METHOD(
    fixture, "reference_tracker: a base-layer break is asked for at once, then once a round trip")
{
    both(usual(0));
    both(usual(8)); // 4 is missing
    CHECK(reference_tracker_next_timeout(t, 0) <= 100 * ms);
    CHECK(pli(100, 80));
    CHECK_FALSE(pli(101, 80));
    CHECK(reference_tracker_next_timeout(t, 80 * ms) == 180 * ms);
    CHECK_FALSE(pli(179, 80));
    CHECK(pli(180, 80));
    CHECK_FALSE(pli(229, 10)); // at least 50 ms
    CHECK(pli(230, 10));
    both(usual(12)); // still broken
    CHECK(pli(280));
    SECTION("until a key frame")
    {
        both(key(16));
    }
    SECTION("or a repaired frame")
    {
        both(on(16, 0));
    }
    SECTION("or the missing ones come after all")
    {
        arrive(usual(4));
    }
    CHECK_FALSE(pli(1000));
    CHECK(reference_tracker_next_timeout(t, 0) == USEC_NEVER);
    // The next break is asked for at once again.
    both(usual(24));
    CHECK(pli(1001));
}

TEST_CASE_METHOD(fixture, "reference_tracker: a repair that NACK asked for is awaited")
{
    both(usual(0));
    reference_tracker_nacked(t, 90 * ms); // of 4
    both(usual(8));
    CHECK_FALSE(pli(100, 40));
    CHECK(reference_tracker_next_timeout(t, 40 * ms) == 290 * ms); // round trip + 150
    reference_tracker_nacked(t, 200 * ms); // further losses do not put it off
    both(usual(12));
    CHECK_FALSE(pli(289, 40));
    SECTION("the repair comes")
    {
        both(on(16, 0));
        CHECK_FALSE(pli(290, 40));
        both(usual(24)); // another break, with its own time
        CHECK_FALSE(pli(300, 40));
        CHECK(reference_tracker_next_timeout(t, 40 * ms) == 490 * ms);
    }
    SECTION("it does not come")
    {
        CHECK(pli(290, 40));
        CHECK(reference_tracker_next_timeout(t, 40 * ms) == 340 * ms);
        CHECK(pli(340, 40));
    }
}

TEST_CASE_METHOD(fixture, "reference_tracker: a NACK of long ago repairs nothing")
{
    both(usual(0));
    reference_tracker_nacked(t, 0);
    both(usual(8)); // 4 is missing
    CHECK(pli(191, 40));
}

TEST_CASE_METHOD(fixture,
                 "reference_tracker: a frame of a higher layer shows that the base is missing")
{
    both(usual(0));
    both(usual(5)); // T2, rests on 4 (T0)
    CHECK(pli(10));
    both(usual(6)); // T1, rests on 4
    CHECK_FALSE(pli(11));
    both(usual(8));
    CHECK(pli(100));
    both(on(12, 0));
    CHECK_FALSE(pli(200));
}

TEST_CASE_METHOD(fixture, "reference_tracker: frames before any key frame ask for one")
{
    CHECK_FALSE(both(usual(4)));
    CHECK(pli(0));
    CHECK(both(key(8)));
    CHECK_FALSE(pli(100));
}

TEST_CASE_METHOD(fixture, "reference_tracker: requests look at arrivals, verdicts at decoding")
{
    for (int n : {0, 1, 2, 3, 4, 8, 12})
        arrive(usual(n)); // all arrived, none is decoded yet
    CHECK_FALSE(pli(0));
    arrive(usual(20)); // 16 is missing: the screen will show it in seconds, the request goes now
    CHECK(pli(1));
    arrive(key(24));
    CHECK_FALSE(pli(100));
    for (int n : {0, 1, 2, 3, 4, 8, 12})
        CHECK(decode(usual(n)));
    CHECK_FALSE(decode(usual(20)));
    CHECK_FALSE(pli(5000)); // a key frame is on its way
    CHECK(decode(key(24)));
}

TEST_CASE_METHOD(
    fixture, "reference_tracker: a frame that arrived but was not decoded breaks what rests on it")
{
    both(usual(0));
    arrive(usual(4)); // playout drops it
    CHECK_FALSE(both(usual(8)));
    CHECK(pli(10));
    CHECK_FALSE(both(usual(12)));
    CHECK(both(key(16)));
    CHECK_FALSE(pli(100));
}

TEST_CASE_METHOD(fixture, "reference_tracker: a failure takes back what rests on it")
{
    for (int64_t n = 0; n <= 8; n++)
        CHECK(both(usual(n)));
    SECTION("of the base layer")
    {
        reference_tracker_failed(t, 0, 4); // 8 was handed over already
        CHECK(pli(10));
        CHECK_FALSE(both(usual(9)));
        CHECK_FALSE(both(usual(12)));
        CHECK(both(on(16, 0))); // rests on what came before
        CHECK_FALSE(pli(100));
    }
    SECTION("of the top layer")
    {
        reference_tracker_failed(t, 0, 7);
        CHECK_FALSE(pli(10));
        CHECK(both(usual(9)));
    }
    SECTION("of a frame behind a key frame, or unknown")
    {
        CHECK(both(key(12)));
        reference_tracker_failed(t, 0, 4);
        CHECK_FALSE(pli(10));
        CHECK(both(usual(13)));
        reference_tracker_failed(t, 0, 5000);
        reference_tracker_failed(t, 0, -1);
        reference_tracker_failed(t, -1, 0);
        reference_tracker_failed(t, 99, 0);
        CHECK_FALSE(pli(10));
    }
}

TEST_CASE_METHOD(fixture, "reference_tracker: decoding never goes back")
{
    both(usual(0));
    both(usual(4));
    CHECK_FALSE(both(usual(2)));
    CHECK_FALSE(decode(usual(4)));
    CHECK_FALSE(decode(usual(0)));
    CHECK(both(usual(8)));
}

TEST_CASE_METHOD(fixture, "reference_tracker: one decoder follows one size")
{
    both(usual(0));
    CHECK_FALSE(both(on(2, 0, 1))); // size 1 had no key frame
    CHECK(both(key(4, 1)));
    CHECK(both(on(5, 4, 1)));
    CHECK_FALSE(both(usual(3)));                               // size 0 is over
    CHECK(reference_tracker_next_timeout(t, 0) == USEC_NEVER); // and not requested
    CHECK(both(key(8, 0)));
    CHECK_FALSE(both(on(9, 4, 1)));
}

TEST_CASE_METHOD(fixture, "reference_tracker: a size whose first key frame is lost is requested")
{
    for (int64_t n = 0; n < 8; n++)
        CHECK(both(usual(n)));
    // From 8 on the sender sends size 1. Its key frame, 8, is lost.
    const int64_t first = GENERATE(9, 10);
    CHECK_FALSE(both(on(first, 8, 1)));
    CHECK(reference_tracker_next_timeout(t, 80 * ms) == 0);
    CHECK(pli(100, 80));
    CHECK_FALSE(both(on(12, 10, 1)));
    CHECK(pli(180, 80));
    SECTION("until the next one comes")
    {
        CHECK(both(key(14, 1)));
        CHECK(both(on(15, 14, 1)));
        CHECK(both(on(16, 14, 1)));
    }
    SECTION("or the lost one comes after all")
    {
        arrive(key(8, 1));
        CHECK(pli(500, 80) == (first == 9)); // then 10, on which 12 depends, is missing, too
        arrive(on(10, 8, 1));
    }
    SECTION("or the sender returns to the first size")
    {
        CHECK(both(key(16)));
        CHECK(both(on(17, 16)));
    }
    SECTION("not by a frame of the first size that comes late")
    {
        both(on(8, 4));
        CHECK(pli(300, 80));
        CHECK(both(key(14, 1)));
    }
    CHECK_FALSE(pli(1000, 80));
    CHECK(reference_tracker_next_timeout(t, 80 * ms) == USEC_NEVER);
}

TEST_CASE_METHOD(fixture, "reference_tracker: the lost key frame of a size was NACKed")
{
    both(usual(0));
    reference_tracker_nacked(t, 90 * ms);
    CHECK_FALSE(both(on(5, 4, 1)));
    CHECK_FALSE(pli(100, 40)); // the sender repeats it, or makes another
    CHECK(pli(290, 40));
    CHECK(both(key(6, 1)));
    CHECK_FALSE(pli(1000, 40));
}

TEST_CASE_METHOD(fixture,
                 "reference_tracker: the encoder of the next size is behind that of the last")
{
    for (int64_t n = 0; n <= 12; n++)
        CHECK(both(usual(n)));
    SECTION("its key frame arrives")
    {
        CHECK(both(key(10, 1)));
        CHECK_FALSE(both(on(14, 12, 1))); // 12 is lost
        CHECK(pli(100));
        CHECK(both(key(16, 1)));
    }
    SECTION("its key frame is lost: the first frame behind all others tells")
    {
        CHECK_FALSE(both(on(12, 10, 1)));
        CHECK_FALSE(pli(100));
        CHECK_FALSE(both(on(14, 12, 1)));
        CHECK(pli(110));
        CHECK(both(key(16, 1)));
    }
    CHECK_FALSE(pli(1000));
}

TEST_CASE_METHOD(fixture, "reference_tracker: the verdict alone changes nothing")
{
    both(usual(0));
    received_frame f = usual(4);
    CHECK(reference_tracker_verdict(t, &f) == FRAME_DECODABLE);
    CHECK(reference_tracker_verdict(t, &f) == FRAME_DECODABLE);
    CHECK(decode(f));
    CHECK(reference_tracker_verdict(t, &f) == FRAME_BROKEN);
}

TEST_CASE_METHOD(fixture,
                 "reference_tracker: memory is bounded, and a restart of the numbers is followed")
{
    both(usual(0));
    both(key((int64_t)1 << 40));
    CHECK_FALSE(both(usual(4)));
    CHECK(both(on(((int64_t)1 << 40) + 1, (int64_t)1 << 40)));
    CHECK_FALSE(both(on(((int64_t)1 << 40) + 5000, ((int64_t)1 << 40) + 1))); // forgotten
    CHECK(both(key(100)));
    CHECK(both(on(101, 100)));
}

TEST_CASE_METHOD(fixture, "reference_tracker: a frame that rests on nothing, and is no key frame")
{
    both(usual(0));
    received_frame bad = usual(4);
    bad.depends_on = -1;
    CHECK_FALSE(both(bad));
    CHECK(both(on(8, 0)));
}

TEST_CASE_METHOD(fixture, "reference_tracker: anything may come")
{
    rng r = rng_seeded(7);
    auto below = [&r](uint64_t n) { return static_cast<int64_t>(rng_below(&r, n)); };
    for (int i = 0; i < 50000; i++) {
        received_frame f{};
        f.number = i / 4 + below(2000) - 1000;
        if (below(100) == 0)
            f.number = static_cast<int64_t>(rng_u64(&r) >> below(64));
        f.key = below(5) == 0;
        f.depends_on = f.key ? -1 : f.number - below(1500);
        f.size_id = static_cast<int>(below(12)) - 1;
        f.temporal_id = static_cast<int>(below(5));
        if (!reference_tracker_can_be(&levels, &f))
            continue;
        if (below(2))
            reference_tracker_arrived(t, &f);
        if (below(2))
            reference_tracker_decoding(t, &f);
        if (below(20) == 0)
            reference_tracker_failed(t, f.size_id, f.number);
        if (reference_tracker_pli(t, 0, i * ms))
            REQUIRE(reference_tracker_next_timeout(t, 0) == (i + 50) * ms);
    }
}

namespace
{

// I0 P4 B2 b1 b3 P8 ...: what a frame rests on may have a later number.
struct b_frames : fixture {
    received_frame b(int64_t n) const
    {
        const struct {
            int on, reorder;
        } kinds[] = {{-4, -3}, {1, 2}, {2, 0}, {-1, 1}}, k = kinds[n % 4];
        if (n == 0)
            return key(0);
        received_frame f = on(n, n + k.on);
        f.reorder = k.reorder;
        return f;
    }
    // As it arrives; then as it is decoded.
    std::string decoded(std::initializer_list<int> order)
    {
        std::string out;
        for (int n : order)
            arrive(b(n));
        for (int n : order)
            out += (decode(b(n)) ? "" : "!") + std::to_string(n) + " ";
        return out;
    }
};

} // namespace

TEST_CASE_METHOD(b_frames, "reference_tracker: frames that rest on later ones")
{
    CHECK(decoded({0, 4, 2, 1, 3, 8, 6, 5, 7}) == "0 4 2 1 3 8 6 5 7 ");
    CHECK_FALSE(pli(0));
}

TEST_CASE_METHOD(b_frames, "reference_tracker: a missing B frame breaks what rests on it alone")
{
    CHECK(decoded({0, 4, 1, 3, 8, 6, 5, 7}) == "0 4 !1 !3 8 6 5 7 ");
    CHECK_FALSE(pli(0));
}

TEST_CASE_METHOD(b_frames, "reference_tracker: a missing P frame breaks all behind it")
{
    CHECK(decoded({0, 2, 1, 3, 8, 6}) == "0 !2 !1 !3 !8 !6 ");
    CHECK(pli(0));
}

TEST_CASE_METHOD(b_frames, "reference_tracker: a P frame that comes late mends what rests on it")
{
    for (int n : {0, 2, 1, 3, 4})
        arrive(b(n));
    CHECK_FALSE(pli(0));
    for (int n : {0, 4, 2, 1, 3})
        CHECK(decode(b(n)));
    CHECK_FALSE(decode(b(1))); // it was; decoding never goes back
}

TEST_CASE_METHOD(b_frames,
                 "reference_tracker: what rests on a frame that failed is broken, be it before")
{
    for (int n : {0, 4, 2, 1, 3})
        arrive(b(n));
    for (int n : {0, 4, 2})
        CHECK(decode(b(n)));
    reference_tracker_failed(t, 0, 4);
    CHECK_FALSE(decode(b(1)));
    CHECK_FALSE(decode(b(3)));
    CHECK(pli(0));
}

TEST_CASE_METHOD(fixture, "reference_tracker: a chain of frames that rest on later ones")
{
    auto at = [this](int64_t n, int64_t depends_on, int reorder) {
        received_frame f = on(n, depends_on);
        f.reorder = reorder;
        return f;
    };
    CHECK(both(key(0)));
    CHECK(both(at(8, 0, -7)));
    CHECK(both(at(4, 8, -2)));
    CHECK(both(at(2, 4, 1)));
    received_frame last = at(1, 2, 3);
    arrive(last);
    reference_tracker_failed(t, 0, 8);
    CHECK_FALSE(decode(last));
}

TEST_CASE_METHOD(b_frames, "reference_tracker: frames that rest on each other are never decodable")
{
    arrive(b(0));
    received_frame x = on(5, 6), y = on(6, 5);
    arrive(x);
    arrive(y);
    CHECK_FALSE(decode(x));
    CHECK_FALSE(decode(y));
    CHECK_FALSE(both(on(7, 7)));
    CHECK_FALSE(both(on(8, 8 + RECEIVED_FRAME_REACH + 1)));
}

namespace
{

// Three sizes as layers of a picture, of one temporal layer.
struct layered : fixture {
    layered()
    {
        levels.cumulative = true;
        levels.size_count = levels.level_count = 3;
        for (int i = 0; i < 3; i++) {
            levels.sizes[i] = {320 << i, 180 << i, {30, 1}, 1};
            levels.levels[i] = {i, 0, 100000 * (i + 1)};
        }
    }
    // `depends_on` -1: a layer that depends on the smaller size alone.
    static received_frame layer(int64_t n, int size, int64_t depends_on)
    {
        received_frame f{};
        f.number = n;
        f.size_id = size;
        f.on_lower = size > 0;
        f.key = size == 0 && depends_on < 0;
        f.depends_on = depends_on;
        return f;
    }
};

} // namespace

TEST_CASE("reference_tracker: a layer is decodable if its lower layer and its earlier frame are")
{
    struct {
        const char *what;
        int lost; // size of picture 1 that is lost; -1: none
        bool chained;
        const char *decodable; // sizes of picture 1, then of picture 2
        bool asks;
    } const rows[] = {
        {"nothing is lost", -1, true, "012 012", false},
        {"the top layer, on which the next one depends", 2, true, "01 01", true},
        {"the middle layer", 1, true, "0 0", true},
        {"the base layer", 0, true, " ", true},
        {"the top layer, of pictures alone", 2, false, "01 012", false},
        {"the middle layer, of pictures alone", 1, false, "0 012", false},
        {"the base layer, of pictures alone", 0, false, " 012", false},
    };
    for (const auto &row : rows) {
        INFO(row.what);
        layered v;
        std::string decodable;
        for (int64_t n = 0; n < 3; n++) {
            for (int size = 0; size < 3; size++) {
                received_frame f = layered::layer(n, size, row.chained && n ? n - 1 : -1);
                bool lost = n == 1 && size == row.lost;
                if (!lost && v.both(f) && n)
                    decodable += std::to_string(size);
            }
            decodable += n == 1 ? " " : "";
        }
        CHECK(decodable == row.decodable);
        CHECK(v.pli(1000) == row.asks);
    }
}

TEST_CASE("reference_tracker: a layer that arrives late mends the layers above it")
{
    layered v;
    for (int size : {0, 1, 2})
        v.both(layered::layer(0, size, -1));
    v.arrive(layered::layer(1, 1, 0)); // before its base
    v.arrive(layered::layer(1, 2, 0));
    CHECK(v.pli(0));
    v.arrive(layered::layer(1, 0, 0));
    CHECK_FALSE(v.pli(1000));
    for (int size : {0, 1, 2})
        CHECK(v.decode(layered::layer(1, size, 0)));
}

TEST_CASE("reference_tracker: a size that is not sent any more asks for nothing")
{
    layered v;
    for (int size : {0, 1})
        v.both(layered::layer(0, size, -1));
    v.both(layered::layer(2, 0, 0));
    v.arrive(layered::layer(2, 1, 1)); // what it depends on is lost
    CHECK(v.pli(0));
    int64_t n = 3;
    for (; n < 12; n++)
        v.both(layered::layer(n, 0, n - 1));
    CHECK_FALSE(v.pli(1000));
    CHECK(v.both(layered::layer(n, 0, n - 1)));
    CHECK(v.both(layered::layer(n, 1, -1))); // it comes back by itself
    CHECK_FALSE(v.pli(2000));
}
