// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <mutex>
#include <vector>

#include "media/pattern/pattern_picture.h"
#include "player/compare/picture_compare.h"

namespace
{

// A comparison whose thread is blocked while `gate` is held.
struct fixture {
    std::mutex gate;
    uint64_t compared = 0; // guarded by gate; after picture_compare_finish nobody else's
    double worst_mse = 0;
    bool takes = true;
    std::vector<std::pair<int64_t, int64_t>> told; // frame of the source, picture in its place
    struct picture_compare *m = nullptr;

    void open(int width, int height, bool fills = false)
    {
        struct picture_compare_config config = {};
        config.test = true;
        config.width = width;
        config.height = height;
        config.fps = {30, 1};
        config.fills = fills;
        config.on_measured = on_measured;
        config.ctx = this;
        m = picture_compare_new(&config);
        REQUIRE(m);
    }
    ~fixture()
    {
        picture_compare_free(m);
    }
    static bool on_measured(void *ctx, const struct measured *result)
    {
        auto *f = static_cast<fixture *>(ctx);
        std::lock_guard<std::mutex> lock(f->gate);
        f->compared += f->takes;
        f->told.push_back({result->number, result->shown});
        f->worst_mse = std::max(f->worst_mse, result->mse_y);
        return f->takes;
    }
    void push(struct picture *p, int times)
    {
        REQUIRE(p);
        for (int i = 0; i < times; i++)
            picture_compare_push(m, p, 0);
        picture_unref(p);
    }
};

struct picture *drawn(int width, int height, int64_t number)
{
    struct pattern_picture *t = pattern_picture_new(width, height, {30, 1});
    struct picture *p = picture_new(width, height);
    REQUIRE((t && p));
    pattern_picture_draw(t, number, p);
    pattern_picture_free(t);
    return p;
}

// Frame `number` of a stream, which shows frame `source` of the test picture.
struct picture *renumbered(int64_t number, int64_t source)
{
    struct picture *p = drawn(320, 180, source);
    p->number = number;
    return p;
}

struct picture *black(int width, int height)
{
    struct picture *p = picture_new(width, height);
    REQUIRE(p);
    for (int i = 0; i < 3; i++)
        memset(p->plane[i], i ? 128 : 16,
               static_cast<size_t>(p->stride[i]) * (i ? height / 2 : height));
    p->number = 0;
    return p;
}

} // namespace

TEST_CASE_METHOD(fixture, "measure: every picture is compared with its source")
{
    open(320, 180);
    for (int n = 0; n < 20; n++)
        push(drawn(320, 180, 1000 + n), 1);
    CHECK(picture_compare_finish(m, USEC_NEVER) == 0);
    CHECK(compared == 20);
    CHECK(worst_mse == 0);
    CHECK(picture_compare_finish(m, 0) == 0); // again is fine
}

TEST_CASE_METHOD(fixture, "measure: a smaller picture is compared at the source's size")
{
    open(640, 360);
    push(drawn(320, 180, 7), 1);
    CHECK(picture_compare_finish(m, USEC_NEVER) == 0);
    CHECK(compared == 1);
    CHECK(worst_mse > 0);
}

TEST_CASE_METHOD(fixture, "measure: what waits is bounded, by pictures and by bytes")
{
    struct {
        int width, height, pushed, waiting;
    } rows[] = {
        {320, 180, 100, PICTURE_COMPARE_QUEUE_PICTURES},
        {1280, 720, 50, 36}, // 36 * 1,382,400 <= 48 MiB
        {6400, 3600, 3, 1},  // larger than a half of it
    };
    for (auto row : rows) {
        INFO(row.width << "x" << row.height);
        fixture f;
        f.open(160, 90); // small: scaling down is what takes least time
        {
            std::lock_guard<std::mutex> lock(f.gate);
            f.push(black(row.width, row.height), row.pushed);
        }
        uint64_t skipped = picture_compare_finish(f.m, USEC_NEVER);
        CHECK(f.compared + skipped == static_cast<uint64_t>(row.pushed));
        // The thread may have taken one picture before the others arrived.
        CHECK(f.compared >= static_cast<uint64_t>(row.waiting));
        CHECK(f.compared <= static_cast<uint64_t>(row.waiting) + 1);
    }
}

TEST_CASE_METHOD(fixture, "measure: the deadline leaves the rest out, and counts it")
{
    open(320, 180);
    {
        std::lock_guard<std::mutex> lock(gate);
        push(black(320, 180), 10);
    }
    uint64_t skipped = picture_compare_finish(m, 0);
    CHECK(compared + skipped == 10);
}

TEST_CASE_METHOD(fixture, "measure: a result that cannot be told counts as skipped")
{
    takes = false;
    open(320, 180);
    push(black(320, 180), 3);
    CHECK(picture_compare_finish(m, USEC_NEVER) == 3);
}

TEST_CASE_METHOD(fixture, "measure: what stands in the place of frames that are not shown")
{
    using row = std::pair<int64_t, int64_t>;
    open(320, 180, true);
    for (int64_t n : {5, 6, 9, 9})
        push(drawn(320, 180, n), 1);
    CHECK(picture_compare_finish(m, USEC_NEVER) == 0);
    CHECK(told == std::vector<row>{{5, 5}, {6, 6}, {7, 6}, {8, 6}, {9, 9}, {9, 9}});
    CHECK(worst_mse > 0); // what stood still is not what moved on
}

TEST_CASE_METHOD(fixture, "measure: a long gap is filled from its end")
{
    open(160, 90, true);
    push(drawn(160, 90, 0), 1);
    push(drawn(160, 90, 1000), 1);
    CHECK(picture_compare_finish(m, USEC_NEVER) == 0);
    REQUIRE(told.size() == PICTURE_COMPARE_MAX_GAP + 2);
    CHECK(told[1] == std::pair<int64_t, int64_t>{1000 - PICTURE_COMPARE_MAX_GAP, 0});
    CHECK(told.back() == std::pair<int64_t, int64_t>{1000, 1000});
}

TEST_CASE("measure: a picture is compared with the source frame of the number in it")
{
    struct {
        const char *name;
        std::vector<std::pair<int64_t, int64_t>> shown; // number of the stream, and of the source
        uint64_t compared, skipped;
        bool all_equal;
    } rows[] = {
        {"the stream began in the past", {{0, 90}, {1, 91}, {2, 92}}, 3, 0, true},
        {"it goes back, and returns",
         {{5, 5}, {6, 6}, {8, 2}, {9, 3}, {12, 12}, {13, 13}},
         6,
         0,
         true},
        {"its origin began again", {{5, 5}, {8, 0}, {9, 1}}, 3, 0, true},
        {"a wrong picture", {{5, 5}, {6, 9}, {7, 7}}, 3, 0, false},
        {"a frozen picture", {{5, 5}, {6, 5}, {7, 5}, {8, 8}}, 4, 0, false},
        {"the last picture alone has another number", {{5, 5}, {6, 9}}, 1, 1, true},
    };
    for (const auto &row : rows) {
        INFO(row.name);
        fixture f;
        f.open(320, 180);
        for (auto [number, source] : row.shown)
            f.push(renumbered(number, source), 1);
        CHECK(picture_compare_finish(f.m, USEC_NEVER) == row.skipped);
        CHECK(f.compared == row.compared);
        CHECK((f.worst_mse == 0) == row.all_equal);
    }
}

TEST_CASE_METHOD(fixture, "measure: there are no frames between two places of the stream")
{
    using row = std::pair<int64_t, int64_t>;
    open(320, 180, true);
    for (auto [number, source] : {row{5, 5}, {7, 7}, {12, 2}, {14, 4}, {15, 5}})
        push(renumbered(number, source), 1);
    CHECK(picture_compare_finish(m, USEC_NEVER) == 0);
    CHECK(told == std::vector<row>{{5, 5}, {6, 5}, {7, 7}, {12, 12}, {13, 12}, {14, 14}, {15, 15}});
}
