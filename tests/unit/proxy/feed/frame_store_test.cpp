// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/frame_store.h"

#include <catch2/catch.hpp>

#include <vector>

namespace
{

struct store {
    frame_store *s;

    explicit store(bool keeps) : s(frame_store_new(keeps))
    {
        REQUIRE(s);
    }
    ~store()
    {
        frame_store_free(s);
    }
    void add(int64_t number, int reorder = 0, size_t bytes = 100)
    {
        coded_frame *f = coded_frame_new(bytes);
        REQUIRE(f);
        f->number = number;
        f->reorder = reorder;
        f->captured = number;
        frame_store_add(s, f);
        coded_frame_unref(f);
    }
    std::vector<int64_t> give(int count = 1 << 20)
    {
        std::vector<int64_t> numbers;
        for (coded_frame *f; count-- > 0 && (f = frame_store_next(s));)
            numbers.push_back(f->number);
        return numbers;
    }
};

using numbers = std::vector<int64_t>;

} // namespace

TEST_CASE("frame_store: frames are given once, in their order")
{
    for (bool keeps : {true, false}) {
        store s(keeps);
        CHECK(s.give().empty());
        s.add(1);
        s.add(2);
        CHECK(s.give(1) == numbers{1});
        s.add(3);
        CHECK(s.give() == numbers{2, 3});
        CHECK(s.give().empty());
        s.add(4);
        frame_store_clear(s.s);
        CHECK(s.give().empty());
    }
}

TEST_CASE("frame_store: what it keeps is given again from a place in decoding order on")
{
    store kept(true), not_kept(false);
    for (store *s : {&kept, &not_kept}) {
        s->add(10);
        s->add(14, -3); // slot 11
        s->add(12);
        CHECK(s->give().size() == 3);
        s->add(13);
        frame_store_rewind(s->s, 11);
    }
    CHECK(kept.give() == numbers{14, 12, 13});
    CHECK(not_kept.give() == numbers{13});
    frame_store_rewind(kept.s, 99);
    CHECK(kept.give().empty());
}

TEST_CASE("frame_store: a pause ends: what is still to be given tells no capture")
{
    store s(true);
    s.add(1);
    s.add(2);
    s.add(3);
    CHECK(s.give() == numbers{1, 2, 3});
    frame_store_rewind(s.s, 2);
    frame_store_renew(s.s, 5000);
    s.add(4);
    frame_store_rewind(s.s, 1);
    const struct {
        usec_t captured;
        bool hides_capture;
    } expected[] = {{1, false}, {5000, true}, {5000, true}, {4, false}};
    for (auto &e : expected) {
        const coded_frame *f = frame_store_next(s.s);
        REQUIRE(f);
        CHECK(f->captured == e.captured);
        CHECK(f->hides_capture == e.hides_capture);
    }
}

TEST_CASE("frame_store: the oldest frames leave when it is full")
{
    store s(true);
    for (int i = 0; i < FRAME_STORE_FRAMES + 5; i++)
        s.add(i);
    numbers given = s.give();
    CHECK(given.size() == FRAME_STORE_FRAMES);
    CHECK(given.front() == 5);
    store bytes(true);
    for (int i = 0; i < 5; i++)
        bytes.add(i, 0, FRAME_STORE_BYTES / 4);
    CHECK(bytes.give() == numbers{1, 2, 3, 4});
    bytes.add(5, 0, FRAME_STORE_BYTES); // alone
    CHECK(bytes.give() == numbers{5});
}
