// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/level_switch.h"

#include <catch2/catch.hpp>

#include <functional>
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
    level_switch_go_to(&v.s, 100, false);
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
    level_switch_go_to(&v.s, 20, false);
    run(v, {{10, 0, "base", "other"}, {20, 0, "base", "lacks key"}, {22, 0, "key", "sent"}});
}

namespace
{

// Three sizes as layers of a picture, with two temporal layers each: level 2 s + t is size s with
// layers 0 .. t.
struct pictures {
    ladder l{};
    level_switch s{};

    explicit pictures(int level)
    {
        l.cumulative = true;
        l.source_fps = {30, 1};
        l.source_width = l.source_height = 64;
        l.size_count = 3;
        for (int size = 0; size < 3; size++) {
            l.sizes[size] = {16 << size, 16 << size, {30, 1}, 2};
            for (int t = 0; t < 2; t++) {
                l.levels[l.level_count] = {size, t, 100000 * (l.level_count + 1)};
                l.level_count++;
            }
        }
        REQUIRE(ladder_is_valid(&l));
        level_switch_init(&s, &l, level, false);
        level_switch_begin(&s);
    }
    // Makes all layers of picture `number` as "key", "base" or "top"; those of size `sync` and
    // larger depend on no earlier frame. Returns the sizes that are sent, then the level.
    std::string come(int64_t number, const char *kind, int sync = 9)
    {
        const std::string what = kind;
        std::string sent;
        for (int size = 0; size < 3; size++) {
            coded_frame f{};
            f.number = number;
            f.size_id = size;
            f.key = what == "key" && size == 0;
            f.on_lower = size > 0;
            f.temporal_id = what == "top";
            bool alone = what == "key" || (size && size >= sync);
            f.depends_on = alone ? -1 : number - (what == "top" ? 1 : 2);
            f.starts = what == "key" ? 0 : sync;
            if (level_switch_take(&s, &f) == LEVEL_TAKEN &&
                level_switch_sends(&s, &f, LEVEL_MAX_LAYERS))
                sent += std::to_string(size);
        }
        return sent + " of " + std::to_string(s.sent_level);
    }
};

} // namespace

TEST_CASE("level_switch: of layered pictures all sizes up to the level's are sent")
{
    pictures v(3);                       // size 1, both temporal layers
    CHECK(v.come(0, "base") == " of 3"); // nothing before the first key frame
    CHECK(v.come(2, "key") == "01 of 3");
    CHECK(v.come(3, "top") == "01 of 3");
    level_switch_set(&v.s, 2); // one temporal layer less: from the next base frame on
    CHECK(v.come(4, "base") == "01 of 2");
    CHECK(v.come(5, "top") == " of 2");
}

TEST_CASE(
    "level_switch: a larger size joins where it depends on no earlier frame, and leaves at any")
{
    pictures v(1);
    CHECK(v.come(0, "key") == "0 of 1");
    level_switch_set(&v.s, 5);
    CHECK(v.come(1, "top") == "0 of 1");
    CHECK(v.come(2, "base") == "0 of 1");
    CHECK(v.come(4, "base", 2) == "0 of 1");   // size 2 alone: its size 1 is not sent
    CHECK(v.come(6, "base", 1) == "012 of 5"); // the base frame has the new level already
    CHECK(v.come(7, "top") == "012 of 5");
    CHECK(v.come(8, "base") == "012 of 5");
    level_switch_set(&v.s, 3);
    CHECK(v.come(9, "top") == "01 of 3");
    CHECK(v.come(10, "base") == "01 of 3");
    level_switch_set(&v.s, 5);
    CHECK(v.come(12, "base") == "01 of 3");
    CHECK(v.come(14, "key") == "012 of 5"); // a key frame is one of all sizes
}

TEST_CASE("level_switch: a layer whose picture's base is not sent is none of the level")
{
    pictures v(4);
    CHECK(v.come(0, "key") == "012 of 4");
    coded_frame f{};
    f.number = 2;
    f.size_id = 1;
    f.on_lower = true;
    f.depends_on = 0;
    CHECK(level_switch_take(&v.s, &f) == LEVEL_OTHER);
}

// ---- A size that passes: level 2 is the source's own, of size 1

namespace
{
struct passing {
    ladder l = two_sizes();
    level_switch s{};

    explicit passing(int level, bool reorders = false, bool keeps_size = false)
    {
        l.sizes[1].layers = 1;
        l.level_count = 3;
        l.levels[2] = {1, 0, 400000};
        l.passes = true;
        level_switch_init(&s, &l, level, reorders);
        s.keeps_size = keeps_size;
        level_switch_begin(&s);
    }
    // A frame of size 1 that depends on `depends`; -1: an IDR. "other", "lacks key", or what is
    // sent.
    std::string own(int64_t number, int64_t depends)
    {
        coded_frame f{};
        f.number = number;
        f.size_id = 1;
        f.key = depends < 0;
        f.depends_on = depends;
        return fate(&f);
    }
    std::string encoded(int64_t number, bool key)
    {
        coded_frame f{};
        f.number = number;
        f.key = key;
        f.depends_on = key ? -1 : number - 2;
        return fate(&f);
    }
    std::string fate(const coded_frame *f)
    {
        static const char *const names[] = {"other", "lacks key", "", "switched, "};
        level_verdict verdict = level_switch_take(&s, f);
        if (verdict == LEVEL_OTHER || verdict == LEVEL_LACKS_KEY)
            return names[verdict];
        return std::string(names[verdict]) + (level_switch_sends(&s, f, ALL)
                                                  ? "level " + std::to_string(s.sent_level)
                                                  : "left out");
    }
};
} // namespace

TEST_CASE("level_switch: a size that passes begins at its IDR, and another one is sent until then")
{
    passing v(2);
    CHECK(v.s.size_id == 0); // watched, beside size 1
    CHECK(v.s.wanted_size == 1);
    CHECK(v.own(7, 6) == "other");
    CHECK(v.encoded(7, true) == "level 1");
    CHECK(v.encoded(9, false) == "level 1");
    CHECK(v.own(10, -1) == "switched, level 2");
    CHECK(v.encoded(10, false) == "other");
    CHECK(v.own(11, 10) == "level 2");
    level_switch_set(&v.s, 1);
    CHECK(v.own(12, 11) == "level 2"); // until the key frame that is requested
    CHECK(v.encoded(13, true) == "switched, level 1");
}

TEST_CASE("level_switch: at the first IDR a size that passes needs no other")
{
    passing v(2);
    CHECK(v.own(0, -1) == "switched, level 2");
    CHECK(v.encoded(0, true) == "other");
    CHECK(v.own(1, 0) == "level 2");
}

TEST_CASE(
    "level_switch: who lacks a frame of a size that passes is sent another until the next IDR")
{
    const struct {
        const char *what;
        std::function<void(passing &)> happens;
    } table[] = {
        {"a loss", [](passing &v) { level_switch_lack(&v.s); }},
        {"a frame that did not come", [](passing &v) { CHECK(v.own(3, 2) == "lacks key"); }},
        {"a seek", [](passing &v) { level_switch_go_to(&v.s, 4, false); }},
        {"a pause in which a frame was lost",
         [](passing &v) {
             level_switch_pause(&v.s, false);
             level_switch_begin(&v.s);
         }},
    };
    for (bool reorders : {false, true})
        for (const auto &row : table) {
            INFO(row.what << (reorders ? ", with B frames" : ""));
            passing v(2, reorders);
            CHECK(v.own(0, -1) == "switched, level 2");
            CHECK(v.own(1, 0) == "level 2");
            row.happens(v);
            CHECK(v.s.size_id == 0);
            CHECK(v.s.wanted_size == 1);
            CHECK(v.own(4, 3) == "other");
            CHECK(v.encoded(4, false) == "lacks key");
            CHECK(v.encoded(5, true) == "level 1");
            CHECK(v.own(8, -1) == "switched, level 2");
        }
}

TEST_CASE("level_switch: B frames of a size that passes")
{
    passing v(2, true);
    CHECK(v.own(0, -1) == "switched, level 2");
    CHECK(v.own(4, 0) == "level 2"); // P
    CHECK(v.own(2, 4) == "level 2"); // B, a reference
    CHECK(v.own(1, 2) == "level 2"); // b
    CHECK(v.own(3, 2) == "level 2"); // b
    CHECK(v.own(8, 2) == "level 2"); // P
    CHECK(v.own(6, 8) == "level 2");
    CHECK(v.own(10, 9) == "lacks key"); // a P frame, 9, did not come
}

TEST_CASE("level_switch: a pause without a gap continues a size that passes")
{
    passing v(2);
    CHECK(v.own(0, -1) == "switched, level 2");
    level_switch_pause(&v.s, true);
    level_switch_begin(&v.s);
    CHECK(v.own(1, 0) == "level 2");
}

TEST_CASE("level_switch: a viewer that keeps its size waits for the IDR, and bears losses")
{
    passing v(2, false, true);
    CHECK(v.s.size_id == 1);
    CHECK(v.own(3, 2) == "lacks key");
    CHECK(v.encoded(4, true) == "other");
    CHECK(v.own(5, -1) == "level 2");
    level_switch_lack(&v.s);
    CHECK(v.own(6, 5) == "level 2");
}
