// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "server/rewind/policy/past_numbers.h"

static struct ladder ladder_of(struct fps source, struct fps size, int layers)
{
    struct ladder l = {};
    l.source_fps = source;
    l.size_count = 1;
    l.sizes[0] = {640, 360, size, layers};
    return l;
}

struct frame {
    bool key, referenced;
    int64_t ms; // since the first one
    int64_t number, depends_on;
    int temporal_id;
};

static void run(const struct ladder &l, int64_t next, const std::vector<frame> &frames)
{
    struct past_numbers n;
    past_numbers_init(&n, &l, 0, next);
    for (size_t i = 0; i < frames.size(); i++) {
        INFO(i);
        const frame &f = frames[i];
        struct past_number got =
            past_numbers_take(&n, f.key, f.referenced, USEC_PER_SEC * 1000 + f.ms * 1000);
        CHECK(got.number == f.number);
        CHECK(got.depends_on == f.depends_on);
        CHECK(got.temporal_id == f.temporal_id);
    }
}

TEST_CASE("past numbers: the pattern of three layers")
{
    run(ladder_of({30, 1}, {30, 1}, 3), 10,
        {{true, true, 0, 12, -1, 0},
         {false, false, 33, 13, 12, 2},
         {false, true, 67, 14, 12, 1},
         {false, false, 100, 15, 14, 2},
         {false, true, 133, 16, 12, 0},
         {false, true, 200, 18, 16, 1}, // 17 was not encoded
         {true, true, 233, 20, -1, 0},  // a key frame is of the base layer
         {false, false, 267, 21, 20, 2}});
}

TEST_CASE("past numbers: layers that are not the pattern's")
{
    run(ladder_of({30, 1}, {30, 1}, 2), 0,
        {{true, true, 0, 0, -1, 0},
         {false, false, 33, 1, 0, 1},
         {false, false, 67, 2, 1, 0}, // the base layer would be referenced
         {false, true, 100, 3, 2, 0},
         {true, true, 133, 4, -1, 0},
         {false, false, 167, 5, 4, 1}});
}

TEST_CASE("past numbers: a size with half of the source's frames")
{
    struct ladder l = ladder_of({60, 1}, {30, 1}, 2);
    run(l, 7,
        {{true, true, 0, 9, -1, 0}, {false, false, 33, 11, 9, 1}, {false, true, 67, 13, 9, 0}});
    for (int64_t n : {9, 11, 13})
        CHECK(size_index_of_frame(l.sizes[0].fps, l.source_fps, n) == (n - 1) / 2);
}

TEST_CASE("past numbers: always ascend")
{
    for (int64_t next : {0, 1, 7, 8, 1000001}) {
        struct ladder l = ladder_of({30000, 1001}, {30000, 1001}, 4);
        struct past_numbers n;
        past_numbers_init(&n, &l, 0, next);
        int64_t last = next - 1;
        for (int i = 0; i < 100; i++) {
            // Times that stand still, run backwards and jump
            usec_t wall = (i * 7919 % 13) * 100000;
            struct past_number got = past_numbers_take(&n, i % 10 == 0, true, wall);
            CHECK(got.number > last);
            CHECK(got.depends_on < got.number);
            last = got.number;
        }
    }
}
