// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/level_switch.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "tests/support/two_sizes.hpp"

namespace
{
const int ALL = LEVEL_MAX_LAYERS;

struct frames {
    ladder l = two_sizes();
    level_switch s{};
    int top = ALL;

    explicit frames(int level, bool stored = false)
    {
        level_switch_init(&s, &l, level, stored);
        level_switch_begin(&s);
    }
    // Makes frame `number` as "key", "base" or "top" of a size; returns its fate.
    std::string come(int64_t number, int size_id, const char *kind)
    {
        static const char *const names[] = {"other", "lacks key", "", ""};
        const std::string what = kind;
        coded_frame f{};
        f.number = number;
        f.size_id = size_id;
        f.key = what == "key";
        f.temporal_id = what == "top";
        f.depends_on = f.key ? -1 : number - (what == "top" ? 1 : 2);
        level_verdict verdict = level_switch_take(&s, &f);
        if (verdict == LEVEL_OTHER || verdict == LEVEL_LACKS_KEY)
            return names[verdict];
        std::string then = level_switch_sends(&s, &f, top) ? "sent" : "left out";
        return (verdict == LEVEL_SWITCHED ? "switched, " : "") + then;
    }
};
struct row {
    int64_t number;
    int size_id;
    const char *kind, *becomes;
};
void run(frames &v, const std::vector<row> &table)
{
    for (const row &one : table) {
        INFO("frame " << one.number << ", " << one.kind << " of size " << one.size_id);
        CHECK(v.come(one.number, one.size_id, one.kind) == one.becomes);
    }
}
} // namespace

TEST_CASE("level_switch: nothing is sent before the first key frame, then the level's layers")
{
    frames v(0); // size 0, the base layer
    run(v, {{0, 0, "base", "lacks key"},
            {1, 0, "top", "lacks key"},
            {2, 1, "key", "other"},
            {2, 0, "key", "sent"},
            {3, 0, "top", "left out"},
            {4, 0, "base", "sent"}});
    CHECK(v.s.thinned == 0); // the level has no such layer
}

TEST_CASE("level_switch: a layer is added at a base frame, and removed at once")
{
    frames v(1);
    run(v, {{0, 0, "key", "sent"}, {1, 0, "top", "sent"}, {2, 0, "base", "sent"}});
    level_switch_set(&v.s, 0);
    run(v, {{3, 0, "top", "left out"}, {4, 0, "base", "sent"}});
    level_switch_set(&v.s, 1);
    run(v, {{5, 0, "top", "left out"}, {6, 0, "base", "sent"}, {7, 0, "top", "sent"}});
    run(v, {{9, 0, "top", "lacks key"}}); // frame 8, which it depends on, did not come
}

TEST_CASE("level_switch: another size begins with its key frame")
{
    frames v(1);
    run(v, {{0, 0, "key", "sent"}, {1, 0, "top", "sent"}});
    level_switch_set(&v.s, 3);
    CHECK(v.s.size_id == 0);
    CHECK(v.s.wanted_size == 1);
    run(v, {{2, 0, "base", "sent"},
            {2, 1, "base", "other"}, // others watch it
            {3, 0, "top", "sent"},
            {4, 1, "key", "switched, sent"},
            {4, 0, "base", "other"},
            {5, 1, "top", "sent"}});
    CHECK(v.s.sent_level == 3);
    CHECK(v.s.uncoded == 0);
}

TEST_CASE("level_switch: layers that the network does not allow are not sent, and counted")
{
    frames v(1);
    run(v, {{0, 0, "key", "sent"}});
    v.top = 0;
    run(v, {{1, 0, "top", "left out"}});
    v.top = ALL;
    run(v, {{2, 0, "base", "sent"}, {3, 0, "top", "sent"}});
    CHECK(v.s.thinned == 1);
}

TEST_CASE("level_switch: frames that the encoder skipped are counted")
{
    frames v(1); // 0 to 9 are in it, each
    run(v, {{0, 0, "key", "sent"}, {1, 0, "top", "sent"}, {6, 0, "key", "sent"}});
    CHECK(v.s.uncoded == 4);
    level_switch_set(&v.s, 0); // every other frame
    run(v, {{10, 0, "key", "sent"}});
    CHECK(v.s.uncoded == 5); // 8
    run(v, {{11, 0, "top", "left out"}, {100000, 0, "key", "sent"}});
    CHECK(v.s.uncoded == 5 + 500); // a gap counts for 1000 frames at most
}

TEST_CASE("level_switch: after a pause")
{
    struct row {
        bool whole, stored;
        const char *becomes;
    };
    for (const row &one :
         {row{true, false, "sent"}, row{false, false, "lacks key"}, row{true, true, "sent"}}) {
        frames v(1, one.stored);
        CHECK(v.come(0, 0, "key") == "sent");
        CHECK(v.come(1, 0, "top") == "sent");
        level_switch_pause(&v.s, one.whole);
        level_switch_begin(&v.s);
        INFO(one.whole << one.stored);
        CHECK(v.come(2, 0, "base") == one.becomes);
    }
    frames v(1); // frames were made for other viewers
    CHECK(v.come(0, 0, "key") == "sent");
    level_switch_pause(&v.s, true);
    level_switch_begin(&v.s);
    CHECK(v.come(4, 0, "base") == "lacks key");
}

TEST_CASE("level_switch: after a seek")
{
    frames v(1);
    run(v, {{0, 0, "key", "sent"}});
    level_switch_go_to(&v.s, 100);
    run(v, {{1, 0, "top", "other"},
            {2, 0, "key", "other"},
            {100, 0, "base", "lacks key"},
            {102, 0, "key", "sent"}});
}

TEST_CASE("level_switch: the level of stored frames changes only at base frames")
{
    frames v(1, true);
    run(v, {{0, 0, "key", "sent"}});
    level_switch_set(&v.s, 0);
    run(v, {{3, 0, "top", "sent"}, {2, 0, "base", "sent"}, {5, 0, "top", "left out"}});
    level_switch_set(&v.s, 1);
    run(v, {{7, 0, "top", "left out"}, {6, 0, "base", "sent"}, {9, 0, "top", "sent"}});
}

TEST_CASE(
    "level_switch: relayed frames of any size and layer are sent, from the first key frame on")
{
    frames v(0);
    v.s.relays = true;
    run(v, {{0, 1, "base", "lacks key"},
            {2, 1, "key", "switched, sent"},
            {3, 1, "top", "sent"},
            {4, 0, "base", "switched, sent"},
            {9, 0, "top", "sent"}}); // others were dropped on the way
    CHECK(v.s.uncoded == 0);
    level_switch_go_to(&v.s, 20);
    run(v, {{10, 0, "base", "other"}, {20, 0, "base", "lacks key"}, {22, 0, "key", "sent"}});
}
