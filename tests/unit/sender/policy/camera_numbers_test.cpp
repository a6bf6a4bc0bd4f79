// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/camera_numbers.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

namespace
{
const usec_t S = USEC_PER_SEC;

struct numbers {
    camera_numbers n;
    std::unique_ptr<frame_group> early{new frame_group()};
    bool reorders = false;
    numbers()
    {
        camera_numbers_init(&n);
    }
    ~numbers()
    {
        frame_group_clear(early.get());
    }
    // Gives a frame of the link its number: "K3" or "3->2", and "+40" ms if it is shown later.
    std::string give(int64_t number, int64_t needs, usec_t media)
    {
        received_frame f = {};
        f.number = number;
        f.depends_on = needs;
        f.key = needs < 0;
        camera_numbers_give(&n, &f, media, reorders);
        if (!n.has_rate) { // as camera.c keeps them
            coded_frame *c = coded_frame_new(10);
            c->bytes = 10;
            c->number = f.number;
            c->depends_on = f.depends_on;
            c->key = f.key;
            c->pts = usec_of_frames(f.number, n.fps.num, n.fps.den) + f.shown_after;
            CHECK(c->pts == media);
            frame_group_add(early.get(), c);
            coded_frame_unref(c);
        }
        return text(f.number, f.depends_on, f.shown_after);
    }
    void settle(fps rate)
    {
        camera_numbers_set_rate(&n, rate);
        camera_numbers_settle(&n, early.get(), reorders);
    }
    std::vector<std::string> group()
    {
        std::vector<std::string> out;
        for (int i = 0; i < early->count; i++) {
            const coded_frame *f = early->frames[i];
            CHECK(f->pts == usec_of_frames(f->number, n.fps.num, n.fps.den) + f->shown_after);
            out.push_back(text(f->number, f->depends_on, f->shown_after));
        }
        return out;
    }
    static std::string text(int64_t number, int64_t needs, usec_t after)
    {
        std::string out = needs < 0 ? "K" + std::to_string(number)
                                    : std::to_string(number) + "->" + std::to_string(needs);
        return after ? out + "+" + std::to_string(after / USEC_PER_MSEC) : out;
    }
};
using texts = std::vector<std::string>;
} // namespace

TEST_CASE("camera numbers count intervals of the rate")
{
    numbers c;
    camera_numbers_set_rate(&c.n, {25, 1});
    CHECK(c.give(0, -1, 0) == "K0");
    CHECK(c.give(1, 0, 41 * USEC_PER_MSEC) == "1->0");
    CHECK(c.give(2, 1, 200 * USEC_PER_MSEC) == "5->1");
    CHECK(c.give(3, 2, 201 * USEC_PER_MSEC) == "6->5"); // each has a number of its own
    CHECK(c.give(5, 4, 202 * USEC_PER_MSEC) == "8->7"); // 4 did not come
    camera_numbers_begin(&c.n);
    CHECK(c.give(1, 0, S) == "25->24"); // of another connection
    camera_numbers_set_rate(&c.n, {50, 1});
    CHECK(c.give(2, 1, 2 * S) == "100->25");
    c.reorders = true;
    CHECK(c.give(3, 2, 2 * S + 60 * USEC_PER_MSEC) == "103->100");
    CHECK(c.give(4, 3, 2 * S + 20 * USEC_PER_MSEC) == "104->103+-60");
}

TEST_CASE("the first frames of a slow camera are as far apart as its rate has it")
{
    numbers c; // one picture a second: its rate is known with the third
    c.give(0, -1, 0);
    c.give(1, 0, S);
    c.give(2, 1, 2 * S);
    c.settle({1, 1});
    CHECK(c.group() == texts{"K0", "1->0", "2->1"});
    CHECK(c.give(3, 2, 3 * S) == "3->2");
    CHECK(c.give(4, 3, 4 * S) == "4->3");
}

TEST_CASE("early frames get the numbers that they would have had with a rate")
{
    numbers c; // a gap, an orphan, and a key frame that drops those before it
    c.give(0, -1, 0);
    c.give(1, 0, 40 * USEC_PER_MSEC);
    c.give(2, -1, 80 * USEC_PER_MSEC);
    c.give(3, 2, 200 * USEC_PER_MSEC);
    c.give(5, 4, 240 * USEC_PER_MSEC);
    c.settle({25, 1});
    CHECK(c.group() == texts{"K2", "5->2", "7->6"});
    CHECK(c.give(6, 5, 280 * USEC_PER_MSEC) == "8->7");
    CHECK(c.give(7, 1, 320 * USEC_PER_MSEC) == "10->9"); // 1 is not there
}

TEST_CASE("early B frames")
{
    numbers c;
    c.give(0, -1, 0);
    c.give(1, 0, 120 * USEC_PER_MSEC);
    c.give(2, 1, 40 * USEC_PER_MSEC);
    c.give(3, 1, 80 * USEC_PER_MSEC);
    c.reorders = true;
    c.settle({25, 1});
    CHECK(c.group() == texts{"K0", "3->0", "4->3+-120", "5->3+-120"});
}

TEST_CASE("no early frames")
{
    numbers c;
    c.settle({25, 1});
    CHECK(c.give(7, -1, S) == "K25");
}
