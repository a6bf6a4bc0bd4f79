// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/layer_refresh.h"

#include <catch2/catch.hpp>

TEST_CASE("layer_refresh: a sync frame first, a key frame if that does not help")
{
    struct {
        int ms; // of the PLI
        int size;
    } const table[] = {
        {0, 1},    {100, 1},  {499, 1}, // the sync frame may be on its way
        {500, 0},  {600, 0},            // it did not help
        {1200, 1}, {1700, 0},           // another loss
        {2300, 1}, {2899, 0}, {3000, 0},
    };
    layer_refresh r{};
    for (const auto &row : table) {
        INFO(row.ms);
        CHECK(layer_refresh_size(&r, 3, row.ms * USEC_PER_MSEC) == row.size);
    }
}

TEST_CASE("layer_refresh: a viewer of the smallest size needs a key frame")
{
    layer_refresh r{};
    CHECK(layer_refresh_size(&r, 1, 0) == 0);
    CHECK(layer_refresh_size(&r, 2, 1) == 1);
}
