// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/held_group.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <memory>
#include <string>

#include "tests/support/two_levels.hpp"

namespace
{

struct rig {
    ladder film = two_levels();
    std::unique_ptr<held_frames, void (*)(held_frames *)> held{held_frames_new(), held_frames_free};

    const received_frame *hold(int64_t number, int size_id, int level, bool key = false)
    {
        auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
        f->number = number;
        f->size_id = size_id;
        f->level = level;
        f->key = key;
        bool full = false;
        REQUIRE(held_frames_add(held.get(), f, &full, 0) == 0);
        return f;
    }
    int64_t end(const received_frame *key)
    {
        held_group g = held_group_of(held.get(), &film, key);
        return g.whole ? g.end : -1;
    }
    std::string all() const
    {
        std::string out;
        for (int i = 0; i < held_frames_count(held.get()); i++) {
            const received_frame *f = held_frames_at(held.get(), i);
            out += std::to_string(f->size_id) + ":" + std::to_string(f->number) + " ";
        }
        return out;
    }
};

} // namespace

TEST_CASE("held_group: a group is whole if each frame of its lowest level is held")
{
    const struct {
        const char *frames; // the level of each of frames 1 to 3; '-': not held
        bool next_key;
        int64_t end;
    } table[] = {
        {"111", true, 4},   {"1-1", true, -1}, {"11-", true, -1},
        {"111", false, -1}, {"-0-", true, 4}, // the even ones
        {"10-", true, 4},                     // the server left the layer out from frame 2 on
        {"--1", true, -1},  {"---", true, -1},
    };
    for (const auto &row : table) {
        CAPTURE(row.frames, row.next_key);
        rig r;
        int first = row.frames[0] == '-' && row.frames[1] == '0' ? 0 : 1;
        const received_frame *key = r.hold(0, 0, first, true);
        for (int n = 1; n < 4; n++)
            if (row.frames[n - 1] != '-')
                r.hold(n, 0, row.frames[n - 1] - '0');
        if (row.next_key)
            r.hold(4, 1, 1, true); // of any size
        CHECK(r.end(key) == row.end);
        if (row.end > 0)
            CHECK(held_group_of(r.held.get(), &r.film, key).level ==
                  (row.frames[1] - '0' && first));
    }
}

TEST_CASE(
    "held_group: frames of other sizes and groups do not count, nor does a level that is none")
{
    rig r;
    r.hold(0, 0, 0, true);
    const received_frame *key = r.hold(4, 0, 1, true);
    for (int n : {5, 7})
        r.hold(n, 0, 1);
    r.hold(6, 1, 1);
    r.hold(8, 0, 1, true);
    CHECK(r.end(key) == -1);
    r.hold(6, 0, 1);
    CHECK(r.end(key) == 8);
    r.hold(9, 0, 0); // behind it
    CHECK(r.end(key) == 8);
    for (int level : {-1, 77}) {
        rig other;
        const received_frame *odd = other.hold(0, 0, level, true);
        other.hold(4, 0, 1, true);
        CHECK(other.end(odd) == -1);
    }
}

TEST_CASE("held_group: without levels each number counts")
{
    rig r;
    r.film.level_count = 0;
    const received_frame *key = r.hold(0, 0, 0, true);
    r.hold(2, 0, 0);
    r.hold(3, 0, 0, true);
    CHECK(r.end(key) == -1);
    r.hold(1, 0, 0);
    CHECK(r.end(key) == 3);
}

TEST_CASE("held_group: the other copies of a group are dropped, not those of the next one")
{
    rig r;
    for (int size : {0, 1, 2})
        for (int n = 0; n < 5; n++)
            r.hold(n, size, 1, n % 4 == 0);
    held_group_drop_others(r.held.get(), 1, 1, 4);
    CHECK(r.all() == "2:0 1:0 0:0 1:1 1:2 1:3 2:4 1:4 0:4 ");
}
