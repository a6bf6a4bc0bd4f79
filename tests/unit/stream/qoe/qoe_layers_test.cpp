// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/qoe_layers.h"

#include <catch2/catch.hpp>

#include <cmath>

TEST_CASE("qoe_layers: mean, changes, goodput and throughput of pictures")
{
    qoe_layers l{};
    // 8, 8, 3 of 5 whole ones, none of 2, 3: 22 valid layers of 100 bytes in 5 pictures. One
    // changes the number of the last one shown.
    const struct {
        int whole, valid;
    } pictures[] = {{8, 8}, {8, 8}, {5, 3}, {2, 0}, {3, 3}};
    int64_t number = 0;
    for (const auto &p : pictures) {
        for (int i = 0; i < p.whole; i++)
            qoe_layers_whole(&l, 100);
        qoe_picture_layers e{number++, p.valid, static_cast<size_t>(100 * p.valid)};
        qoe_layers_picture(&l, &e);
    }
    qoe_json out{};
    qoe_layers_read(&l, 0.5, &out);
    CHECK(out.layers.pictures == 5);
    CHECK(out.layers.mean == 4.4);
    CHECK(out.layers.changes == 1);
    CHECK(out.layers.goodput == 22 * 800 / 0.5);
    CHECK(out.layers.throughput == 26 * 800 / 0.5);
}

TEST_CASE("qoe_layers: without pictures nothing is known")
{
    qoe_layers l{};
    qoe_json out{};
    qoe_layers_read(&l, 1, &out);
    CHECK(out.layers.pictures == 0);
    CHECK(std::isnan(out.layers.mean));
    CHECK(std::isnan(out.layers.changes));
    CHECK(std::isnan(out.layers.goodput));
    CHECK(std::isnan(out.layers.throughput));
}
