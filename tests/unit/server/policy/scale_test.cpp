// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/scale.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

namespace
{

// Two sizes at 25 frames/s: size 0 with three temporal layers, a base frame every 4 frames; size 1
// with one layer.
struct film {
    ladder levels{};
    std::unique_ptr<stored_shape> shape = std::make_unique<stored_shape>();
    size_t key = 10000, base = 2000;

    film()
    {
        levels.source_fps = {25, 1};
        levels.size_count = 2;
        levels.sizes[0] = {320, 180, {25, 1}, 3};
        levels.sizes[1] = {640, 360, {25, 1}, 1};
        stored_shape_init(shape.get(), &levels, 52);
    }
    static size_t bytes(const void *ctx, int size_id, int place)
    {
        const auto *f = static_cast<const film *>(ctx);
        const stored_place &p = f->shape->places[size_id][place];
        return p.depends == STORED_NO_FRAME ? 0 : place == 0 ? f->key : f->base;
    }
    int take(scale_budget *b, double scale, int bps, int size_id = 0) const
    {
        const scale_group g = {shape.get(), size_id, bytes, this, 2080000, bps, scale};
        return scale_budget_take(b, &g);
    }
};

} // namespace

TEST_CASE("scale: the nearest one that there is")
{
    const struct {
        double requested, scale;
    } table[] = {{1, 1},   {0, 1},   {0.25, 1}, {1.5, 1}, {1.6, 2}, {2, 2},     {3, 2},
                 {3.1, 4}, {4, 4},   {6, 4},    {7, 8},   {8, 8},   {1000, 8},  {-0.4, 1},
                 {-1, -2}, {-2, -2}, {-3, -2},  {-5, -4}, {-8, -8}, {-1000, -8}};
    for (const auto &row : table) {
        INFO(row.requested);
        CHECK(scale_nearest(row.requested) == row.scale);
    }
}

TEST_CASE("scale: which base frames of a group are sent")
{
    // A group has a key frame of 10000 bytes and 12 base frames of 2000, at places 4, 8 .. 48. At
    // scale 2 it lasts 1.04 s, so 1000 bit/s of the level are 130 bytes of credit.
    const struct {
        double scale;
        int bps;
        int until;
    } table[] = {
        {2, 1000000, 52}, // 130000 bytes: all
        {2, 262000, 52},  // 34060 bytes: just all
        {2, 245000, 44},  // 31850 bytes: 10 of 12
        {2, 170000, 28},  // 22100 bytes: 6 of 12
        {2, 165000, 1},   // 21450 bytes: fewer than half
        {2, 50000, 1},    // the first key frame, on credit
        {4, 1000000, 52}, // 65000 bytes
        {4, 400000, 36},  // 26000 bytes: 8 of 12
        {8, 9000000, 1},  // base frames would be half a frame interval apart
        {-2, 9000000, 1}, // backwards none can be decoded
        {-8, 9000000, 1},
    };
    const film f;
    for (const auto &row : table) {
        INFO(row.scale << " at " << row.bps);
        scale_budget b{};
        CHECK(f.take(&b, row.scale, row.bps) == row.until);
    }
    scale_budget b{};
    CHECK(f.take(&b, 2, 9000000, 1) == 1); // one layer: all frames are base frames
}

TEST_CASE("scale: key frames that exceed the level's rate are left out, evenly")
{
    // At scale 8 a group lasts 0.26 s: 200 kbit/s are 6500 bytes a group, a key frame has 10000.
    const film f;
    for (double scale : {8., -8.}) {
        scale_budget b{};
        std::vector<int> sent;
        double bytes = 0;
        for (int i = 0; i < 60; i++) {
            sent.push_back(f.take(&b, scale, 200000));
            bytes += sent.back() * 10000.;
        }
        CHECK(sent[0] == 1);
        CHECK(bytes <= 60 * 6500 + 10000);
        CHECK(bytes >= 60 * 6500 - 10000);
        for (size_t i = 2; i < sent.size(); i++)
            CHECK(sent[i] + sent[i - 1] + sent[i - 2] >= 1);
    }
}

TEST_CASE("scale: a key frame larger than all credit is sent when the credit is full")
{
    film f;
    f.key = 50000; // of 25000 a second
    scale_budget b{};
    int sent = 0;
    for (int i = 0; i < 40; i++) // 10.4 s
        sent += f.take(&b, 8, 200000);
    CHECK(sent >= 4);
    CHECK(sent <= 6);
}

TEST_CASE("scale: of a level that names no rate each key frame is sent")
{
    const film f;
    for (double scale : {2., 8., -4.})
        for (int bps : {0, -1}) {
            CAPTURE(scale, bps);
            scale_budget b{};
            for (int i = 0; i < 5; i++)
                CHECK(f.take(&b, scale, bps) == 1);
        }
}
