// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/policy/stored_plan.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"

namespace
{
ladder ladder_of(fps source, std::initializer_list<size_spec> sizes)
{
    ladder l{};
    l.source_fps = source;
    l.source_width = 640;
    l.source_height = 360;
    for (const auto &size : sizes) {
        l.levels[l.level_count++] = {l.size_count, size.layers - 1, 100000 * (l.level_count + 1)};
        l.sizes[l.size_count++] = size;
    }
    return l;
}

// "-1 0 0 2": the references of the first `count` places; ".": no frame.
std::string depends(const stored_plan &p, int size_id, int count)
{
    std::string out;
    for (int at = 0; at < count; at++) {
        int on = p.full.places[size_id][at].depends;
        out += (at ? " " : "") + (on == STORED_NO_FRAME ? "." : std::to_string(on));
    }
    return out;
}

// "0 4 2 1 3": the places from slot `from` on, in decoding order.
std::string decoded(const stored_shape &s, int size_id, int from, int count)
{
    std::string out;
    for (int slot = from; slot < from + count; slot++) {
        int at = s.decoded[size_id][slot];
        out += (slot > from ? " " : "") + (at == STORED_NO_FRAME ? "." : std::to_string(at));
    }
    return out;
}
} // namespace

TEST_CASE("stored plan: groups of about two seconds, whole periods of every size")
{
    struct {
        fps source;
        size_spec a, b;
        int period, gop;
    } cases[] = {
        {{30, 1}, {320, 180, {30, 1}, 3}, {640, 360, {30, 1}, 3}, 4, 60},
        {{30, 1}, {320, 180, {15, 1}, 3}, {640, 360, {30, 1}, 3}, 8, 64}, // 60 / 8 = 7.5
        {{25, 1}, {320, 180, {25, 1}, 1}, {640, 360, {25, 1}, 2}, 2, 50},
        {{30000, 1001}, {320, 180, {15000, 1001}, 2}, {640, 360, {30000, 1001}, 2}, 4, 60},
        {{25, 1}, {320, 180, {10, 1}, 2}, {640, 360, {25, 1}, 2}, 10, 50}, // 2 of 5 frames
        {{24, 1}, {320, 180, {24, 1}, 4}, {640, 360, {24, 1}, 4}, 8, 48},
        {{1, 1}, {320, 180, {1, 1}, 4}, {640, 360, {1, 1}, 4}, 8, 8}, // longer: a period at least
    };
    for (const auto &c : cases) {
        INFO(c.source.num << "/" << c.source.den << " " << c.a.fps.num);
        ladder l = ladder_of(c.source, {c.a, c.b});
        stored_plan p;
        REQUIRE(stored_plan_init(&p, &l) == 0);
        CHECK(p.period == c.period);
        CHECK(p.gop == c.gop);
    }
}

TEST_CASE("stored plan: groups of one second if the source is larger than 1920x1080")
{
    ladder l = ladder_of({60, 1}, {{640, 360, {30, 1}, 3}, {3840, 2160, {60, 1}, 3}});
    stored_plan p;
    l.source_width = 1920;
    l.source_height = 1080;
    CHECK(stored_plan_seconds(&l) == 2);
    REQUIRE(stored_plan_init(&p, &l) == 0);
    CHECK(p.gop == 120);
    l.source_width = 3840;
    l.source_height = 2160;
    CHECK(stored_plan_seconds(&l) == 1);
    REQUIRE(stored_plan_init(&p, &l) == 0);
    CHECK(p.gop == 64); // a multiple of the period, 8
}

TEST_CASE("stored plan: rates without a common period are refused")
{
    stored_plan p;
    ladder l = ladder_of({30000, 1001}, {{320, 180, {24, 1}, 2}});
    CHECK(stored_plan_init(&p, &l) == ERR_RANGE);
    ladder two = ladder_of({60, 1}, {{320, 180, {59, 1}, 2}, {320, 180, {360, 7}, 2}});
    CHECK(stored_plan_init(&p, &two) == ERR_RANGE);
}

TEST_CASE("stored plan: the reference of each frame")
{
    ladder l = ladder_of({30, 1}, {{320, 180, {15, 1}, 2}, {640, 360, {30, 1}, 3}});
    stored_plan p;
    REQUIRE(stored_plan_init(&p, &l) == 0);
    CHECK(depends(p, 0, 8) == ". -1 . 5 . 1 . 9");
    CHECK(depends(p, 1, 9) == "-1 2 4 2 0 6 8 6 4");
    CHECK(p.full.places[1][2].temporal_id == 1);
    CHECK(p.full.places[1][3].temporal_id == 2);
}

TEST_CASE("stored plan: the decoding order")
{
    ladder l = ladder_of({30, 1}, {{320, 180, {15, 1}, 2},
                                   {640, 360, {30, 1}, 3},
                                   {640, 360, {30, 1}, 1},
                                   {640, 360, {30, 1}, 4}});
    stored_plan p;
    REQUIRE(stored_plan_init(&p, &l) == 0);
    REQUIRE(p.gop == 64);
    CHECK(decoded(p.full, 0, 0, 8) == ". 1 . 5 . 3 . 9");
    CHECK(decoded(p.full, 1, 0, 9) == "0 4 2 1 3 8 6 5 7");
    CHECK(decoded(p.full, 2, 0, 5) == "0 1 2 3 4");
    CHECK(decoded(p.full, 3, 0, 10) == "0 8 4 2 1 3 6 5 7 16");
    // No frame of a group depends on the next group.
    CHECK(decoded(p.full, 0, 58, 6) == ". 61 . 59 . 63");
    CHECK(decoded(p.full, 1, 57, 7) == "60 58 57 59 62 61 63");
    for (int size = 0; size < l.size_count; size++) {
        for (int slot = 0; slot < p.gop; slot++) {
            int at = p.full.decoded[size][slot];
            if (at == STORED_NO_FRAME)
                continue;
            const stored_place &place = p.full.places[size][at];
            CHECK(place.slot == slot);
            // A frame's reference is decoded before it; no frame is decoded more than two slots
            // after its own time.
            if (place.depends >= 0)
                CHECK(p.full.places[size][place.depends].slot < slot);
            int apart = size == 0 ? 2 : 1;
            CHECK(slot - at <= (l.sizes[size].layers - 1) * apart);
        }
    }
}

TEST_CASE("stored plan: the last group is closed at the end of the media")
{
    ladder l = ladder_of({30, 1}, {{640, 360, {30, 1}, 3}});
    stored_plan p;
    REQUIRE(stored_plan_init(&p, &l) == 0);
    stored_plan_end(&p, &l, 2 * 60 + 8);
    CHECK(decoded(*stored_plan_shape(&p, 1), 0, 0, 9) == "0 4 2 1 3 8 6 5 7");
    CHECK(stored_plan_shape(&p, 2)->frames == 8);
    CHECK(decoded(*stored_plan_shape(&p, 2), 0, 0, 8) == "0 4 2 1 3 6 5 7");
    CHECK(stored_plan_shape(&p, 2)->places[0][7].depends == 6);
}

TEST_CASE("stored plan: the frames needed for a seek")
{
    ladder l = ladder_of({30, 1}, {{320, 180, {15, 1}, 2}, {640, 360, {30, 1}, 3}});
    stored_plan p;
    REQUIRE(stored_plan_init(&p, &l) == 0);
    auto needed = [&p](int size, int target) {
        std::string out;
        for (int at = 0; at < p.full.frames; at++)
            if (stored_shape_needs(&p.full, size, target, at))
                out += std::to_string(at) + " ";
        return out;
    };
    CHECK(needed(1, 0) == "0 ");
    CHECK(needed(1, 11) == "0 4 8 10 11 12 ");
    CHECK(needed(1, 59) == "0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 58 59 ");
    CHECK(needed(0, 7) == "1 5 7 9 ");
    CHECK(needed(0, 6) == ""); // no frame of that size
}

TEST_CASE("stored plan: the frame of a level at a place")
{
    ladder l = ladder_of({30, 1}, {{320, 180, {15, 1}, 2}, {640, 360, {30, 1}, 3}});
    stored_plan p;
    REQUIRE(stored_plan_init(&p, &l) == 0);
    struct {
        level of;
        int target, expected;
    } cases[] = {
        {{1, 2, 0}, 11, 11}, {{1, 1, 0}, 11, 10}, {{1, 0, 0}, 11, 8},
        {{0, 1, 0}, 6, 5},   {{0, 0, 0}, 4, 1},   {{0, 0, 0}, 0, 1}, // its first
    };
    for (const auto &c : cases)
        CHECK(stored_shape_at_level(&p.full, &c.of, c.target) == c.expected);
}
