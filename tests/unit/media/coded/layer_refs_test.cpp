// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/layer_refs.h"

#include <catch2/catch.hpp>

#include "common/base/level.h"

namespace
{

struct fixture {
    layer_refs r;
    int layers;

    explicit fixture(int n, int dpb = 8) : layers(n)
    {
        layer_refs_init(&r, n, dpb);
    }

    layer_choice make(int64_t number, bool key = false)
    {
        int tid = layer_temporal_id(number, layers);
        layer_choice c = layer_refs_choose(&r, tid);
        if (key)
            c = {true, -1, -1, -1};
        if (!c.key || tid == 0)
            layer_refs_kept(&r, number, tid, &c);
        return c;
    }

    void make_to(int64_t from, int64_t to)
    {
        for (int64_t n = from; n <= to; n++)
            make(n);
    }
};

} // namespace

TEST_CASE("the reference of each frame, and what the encoder forgets for it")
{
    struct {
        int64_t number, depends_on, forget_from;
    } two[] = {{1, 0, -1}, {2, 0, 1}, {3, 2, -1}, {4, 2, 3}},
      three[] = {{1, 0, -1}, {2, 0, 1}, {3, 2, -1}, {4, 0, 1},
                 {5, 4, -1}, {6, 4, 5}, {7, 6, -1}, {8, 4, 5}};
    fixture t2(2), t3(3);
    CHECK(t2.make(0).key);
    CHECK(t3.make(0).key);
    for (auto &row : two) {
        layer_choice c = t2.make(row.number);
        CHECK_FALSE(c.key);
        CHECK(c.depends_on == row.depends_on);
        CHECK(c.forget_from == row.forget_from);
    }
    for (auto &row : three) {
        layer_choice c = t3.make(row.number);
        CHECK(c.depends_on == row.depends_on);
        CHECK(c.forget_from == row.forget_from);
    }
}

TEST_CASE("the effect of a loss, by layer and age")
{
    struct {
        int layers;
        int64_t made, lost;
        layer_loss verdict;
        int64_t next_depends_on; // of frame made + 1
    } table[] = {
        {1, 5, 5, LAYER_LOSS_REPAIRED, 4},
        {1, 9, 3, LAYER_LOSS_REPAIRED, 2},   // 10 - 2 = 8 calls back: the last place of the window
        {1, 9, 2, LAYER_LOSS_NEEDS_KEY, -1}, // one beyond
        {2, 5, 5, LAYER_LOSS_HARMLESS, 4},   // top layer
        {2, 5, 4, LAYER_LOSS_REPAIRED, 2},
        {2, 4, 4, LAYER_LOSS_REPAIRED, 2}, // the next one is of the top layer and is repaired too
        {2, 9, 4, LAYER_LOSS_REPAIRED, 2},
        {2, 9, 0, LAYER_LOSS_NEEDS_KEY, -1}, // the key frame itself
        {3, 10, 10, LAYER_LOSS_REPAIRED, 8}, // the middle layer: frame 11 goes past it
        {3, 11, 9, LAYER_LOSS_HARMLESS, 8},  // top layer
        {3, 11, 8, LAYER_LOSS_REPAIRED, 4},
        {3, 11, 6, LAYER_LOSS_HARMLESS, 8},
    };
    for (auto &row : table) {
        INFO("layers " << row.layers << " made " << row.made << " lost " << row.lost);
        fixture f(row.layers);
        f.make_to(0, row.made);
        CHECK(layer_refs_lost(&f.r, row.lost) == row.verdict);
        if (row.verdict != LAYER_LOSS_NEEDS_KEY)
            CHECK(f.make(row.made + 1).depends_on == row.next_depends_on);
    }
}

TEST_CASE("a second viewer's loss of a frame that is already avoided is harmless")
{
    fixture f(2);
    f.make_to(0, 8);
    CHECK(layer_refs_lost(&f.r, 6) == LAYER_LOSS_REPAIRED);
    CHECK(f.make(9).depends_on == 4);
    CHECK(f.make(10).depends_on == 4);
    CHECK(layer_refs_lost(&f.r, 8) == LAYER_LOSS_HARMLESS); // it built on 6
    CHECK(f.make(11).depends_on == 10);
    CHECK(f.make(12).depends_on == 10);
}

TEST_CASE("losses of frames before a key frame, or of frames never made, are harmless")
{
    fixture f(2);
    f.make_to(0, 5);
    f.make(6, true);
    CHECK(layer_refs_lost(&f.r, 4) == LAYER_LOSS_HARMLESS);
    CHECK(layer_refs_lost(&f.r, 100) == LAYER_LOSS_HARMLESS);
    CHECK(f.make(7).depends_on == 6);
}

TEST_CASE("while a key frame is awaited, higher layers continue for viewers without loss")
{
    fixture f(3);
    f.make_to(0, 4);
    CHECK(layer_refs_lost(&f.r, 0) == LAYER_LOSS_NEEDS_KEY);
    CHECK(f.make(5).depends_on == 4);
    CHECK(f.make(6).depends_on == 4);
    CHECK(f.make(7).depends_on == 6);
    CHECK(f.make(8).key);
}

TEST_CASE("losses older than the history need a key frame")
{
    fixture f(2);
    f.make_to(0, 2 * LAYER_REFS_HISTORY);
    CHECK(layer_refs_lost(&f.r, 2) == LAYER_LOSS_NEEDS_KEY);
    CHECK_FALSE(f.make(2 * LAYER_REFS_HISTORY + 1).key);
}

TEST_CASE("results may be discarded as long as references stay in the window")
{
    fixture f(2); // a window of 8, a period of 2: 6 to spare
    f.make_to(0, 3);
    layer_choice c = layer_refs_choose(&f.r, 0); // frame 4, references 2
    CHECK(c.depends_on == 2);
    int thrown = 0;
    while (layer_refs_may_discard(&f.r, &c)) {
        layer_refs_discarded(&f.r, &c);
        thrown++;
    }
    CHECK(thrown == 6);
    // The first of them and frame 3 are out of the way; 2 is in the last place.
    CHECK(layer_refs_choose(&f.r, 0).depends_on == 2);
    layer_refs_kept(&f.r, 4, 0, &c);
    CHECK(f.make(5).depends_on == 4);
    CHECK(f.make(6).depends_on == 4);
    layer_choice key = {true, -1, -1, -1};
    CHECK(layer_refs_may_discard(&f.r, &key));
}

TEST_CASE("the effect of a loss can be queried without recording it")
{
    fixture f(2);
    f.make_to(0, 13);
    for (auto [lost, takes] : {std::pair<int64_t, layer_loss>{13, LAYER_LOSS_HARMLESS}, // top layer
                               {12, LAYER_LOSS_REPAIRED},
                               {8, LAYER_LOSS_REPAIRED},
                               {0, LAYER_LOSS_NEEDS_KEY}}) {
        INFO("frame " << lost);
        CHECK(layer_refs_loss(&f.r, lost) == takes);
        CHECK(layer_refs_choose(&f.r, 0).depends_on == 12);
        fixture copy = f;
        CHECK(layer_refs_lost(&copy.r, lost) == takes);
    }
}
