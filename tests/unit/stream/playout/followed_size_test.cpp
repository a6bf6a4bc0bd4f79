// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/followed_size.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <memory>

namespace
{

struct rig {
    followed_size s;
    int64_t missing = INT64_MAX;
    bool newer = false;
    std::unique_ptr<held_frames, void (*)(held_frames *)> held{held_frames_new(), held_frames_free};

    rig()
    {
        followed_size_init(&s, nullptr, nullptr); // all is decodable
    }
    static received_frame frame(int64_t number, int size_id, bool key = false)
    {
        received_frame f{};
        f.number = number;
        f.size_id = size_id;
        f.key = key;
        return f;
    }
    void hold(int64_t number, int size_id, bool key = false, uint32_t written_us = 0)
    {
        auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
        *f = frame(number, size_id, key);
        f->last_written_us = written_us;
        bool full = false;
        REQUIRE(held_frames_add(held.get(), f, &full, 0) == 0);
    }
    void handed(int64_t number, int size_id, bool key = false)
    {
        received_frame f = frame(number, size_id, key);
        followed_size_handed(&s, &f, -1);
    }
    bool needs(int64_t number, int size_id, bool key = false)
    {
        received_frame f = frame(number, size_id, key);
        return followed_size_needs(&s, &f);
    }
    int64_t front(int64_t next)
    {
        const received_frame *f = followed_size_front(&s, held.get(), next, missing, newer);
        return f ? 100 * f->size_id + f->number : -1;
    }
};

} // namespace

TEST_CASE("followed_size: until a key frame, every frame is useless")
{
    rig r;
    r.hold(1, 0);
    r.hold(2, 0);
    CHECK(r.front(0) == -1);
    CHECK(held_frames_count(r.held.get()) == 0);
    r.hold(3, 0, true);
    CHECK(r.front(0) == 3);
}

TEST_CASE("followed_size: frames of another size wait for their key frame")
{
    rig r;
    r.handed(1, 0, true);
    r.hold(2, 1);
    r.hold(3, 0);
    CHECK(r.front(2) == 3); // 2 was dropped
    r.handed(4, 1, true);
    CHECK(r.s.size == 1);
    CHECK(r.s.began == 4);
    CHECK(r.front(5) == -1); // 3 is of the size before
}

TEST_CASE("followed_size: frames of another size are kept while their key frame may still come")
{
    const struct {
        int64_t missing;
        bool newer;
        int64_t first_seq;
        uint32_t written_us;
        bool kept;
    } table[] = {
        {INT64_MAX, false, 70, 1100, false}, {69, false, 70, 1100, true},
        {71, false, 70, 1100, false},        {INT64_MAX, true, 70, 1100, true},
        {INT64_MAX, true, 70, 900, false},  // of a size that was left
        {INT64_MAX, true, 70, 1000, false}, // the times do not tell
    };
    for (const auto &row : table) {
        CAPTURE(row.missing, row.newer, row.first_seq, row.written_us);
        rig r;
        received_frame key = rig::frame(3, 0, true);
        key.last_written_us = 1000;
        followed_size_handed(&r.s, &key, -1);
        r.missing = row.missing;
        r.newer = row.newer;
        r.hold(5, 1, false, row.written_us);
        const_cast<received_frame *>(held_frames_at(r.held.get(), 0))->first_seq = row.first_seq;
        CHECK(r.front(4) == (row.kept ? 105 : -1));
        r.hold(5, 0); // the size that is followed has it, too
        CHECK(r.front(4) == 5);
        CHECK(held_frames_count(r.held.get()) == 1);
    }
}

TEST_CASE("followed_size: one number in two sizes: the level changes at a key frame")
{
    rig r;
    r.handed(1, 0, true);
    r.hold(2, 0);
    r.hold(2, 1, true);
    CHECK(r.front(2) == 102);
    CHECK(held_frames_count(r.held.get()) == 1);
}

TEST_CASE("followed_size: of the first key frames of two sizes, that which was sent later counts")
{
    for (bool larger_arrives_first : {false, true})
        for (int later : {0, 1}) {
            INFO(larger_arrives_first << later);
            rig r;
            r.hold(0, larger_arrives_first, true, 100u + (later == larger_arrives_first));
            r.hold(0, !larger_arrives_first, true, 100u + (later != larger_arrives_first));
            CHECK(r.front(0) == 100 * later);
        }
}

TEST_CASE("followed_size: of two key frames in the midst, that which was sent later counts, too")
{
    for (bool larger_arrives_first : {false, true})
        for (int later : {0, 1}) { // 0: the group was cut off, and comes again in the size before
            INFO(larger_arrives_first << later);
            rig r;
            r.handed(1, 0, true);
            r.hold(2, larger_arrives_first, true, 100u + (later == larger_arrives_first));
            r.hold(2, !larger_arrives_first, true, 100u + (later != larger_arrives_first));
            CHECK(r.front(2) == 100 * later + 2);
        }
}

TEST_CASE("followed_size: a frame that was passed serves those decoded after it")
{
    rig r;
    CHECK(r.needs(1, 0, true)); // it begins a size
    CHECK_FALSE(r.needs(1, 0));
    r.handed(5, 0, true);
    r.handed(8, 0);
    CHECK(r.needs(9, 0));
    CHECK_FALSE(r.needs(8, 0));       // a later one was decoded
    CHECK(r.needs(6, 1, true));       // another size, that was not left
    CHECK_FALSE(r.needs(4, 1, true)); // from before the size that is followed
    CHECK_FALSE(r.needs(6, 1));
    followed_size_forget(&r.s);
    CHECK(r.needs(4, 1, true));
    CHECK_FALSE(r.needs(9, 0));
}

TEST_CASE("followed_size: a key frame that was sent before the last one of this size is of no use")
{
    const struct {
        int64_t number;
        uint32_t written;
        bool needed;
    } table[] = {
        {368, 900, false}, // sent again: of the size before
        {368, 1100, true}, // the next size's encoder is behind
        {372, 900, false},
    };
    for (uint32_t zero : {0u, 0xfffffc18u}) // the time may wrap around
        for (const auto &row : table) {
            rig r;
            auto key = [zero](int64_t number, int size_id, uint32_t written) {
                received_frame f = rig::frame(number, size_id, true);
                f.last_written_us = zero + written;
                return f;
            };
            received_frame first = key(300, 2, 100), last = key(370, 2, 1000);
            followed_size_handed(&r.s, &first, -1);
            followed_size_handed(&r.s, &last, -1);
            received_frame f = key(row.number, 3, row.written);
            CHECK(followed_size_needs(&r.s, &f) == row.needed);
        }
}

TEST_CASE("followed_size: the tracker says what can be decoded")
{
    ladder l{};
    l.source_fps = {30, 1};
    std::unique_ptr<reference_tracker, void (*)(reference_tracker *)> t{reference_tracker_new(&l),
                                                                        reference_tracker_free};
    rig r;
    followed_size_init(&r.s, t.get(), nullptr);
    received_frame f = rig::frame(3, 0);
    f.depends_on = 2; // which did not come
    CHECK_FALSE(followed_size_decodes(&r.s, &f));
    received_frame key = rig::frame(4, 0, true);
    key.depends_on = -1;
    CHECK(followed_size_decodes(&r.s, &key));
    followed_size_handed(&r.s, &key, -1);
    CHECK(r.s.size == 0);
    CHECK(r.s.decoded == 4);
}

TEST_CASE("followed_size: a whole group of a film gives way to a copy that is whole, too")
{
    ladder film{}; // without levels: each number counts
    for (bool old_is_whole : {false, true})
        for (int copied : {1, 2, 3}) {
            CAPTURE(old_is_whole, copied);
            rig r;
            followed_size_init(&r.s, nullptr, &film);
            for (int n = 0; n < (old_is_whole ? 3 : 2); n++)
                r.hold(n, 0, n == 0, 100);
            for (int n = 0; n < copied; n++)
                r.hold(n, 1, n == 0, 200);
            r.hold(3, 0, true, 100);
            CHECK(r.front(0) == (old_is_whole && copied < 3 ? 0 : 100));
        }
}

TEST_CASE("followed_size: while a whole group is shown, what comes of another copy is refused")
{
    ladder film{};
    rig r;
    followed_size_init(&r.s, nullptr, &film);
    received_frame key = rig::frame(10, 0, true);
    key.last_written_us = 100;
    followed_size_handed(&r.s, &key, 20);
    for (int number : {10, 15, 19, 20}) {
        CAPTURE(number);
        received_frame f = rig::frame(number, 1, true);
        f.last_written_us = 200;
        CHECK(followed_size_refuses(&r.s, &f) == (number < 20));
        CHECK(followed_size_needs(&r.s, &f) == (number >= 20));
        f.size_id = 0;
        CHECK_FALSE(followed_size_refuses(&r.s, &f));
    }
    for (int size : {0, 1}) { // what was shown
        received_frame f = rig::frame(9, size, true);
        f.last_written_us = 200;
        CHECK(followed_size_refuses(&r.s, &f));
    }
    followed_size_forget(&r.s);
    received_frame f = rig::frame(5, 1, true);
    CHECK(followed_size_needs(&r.s, &f));
}
