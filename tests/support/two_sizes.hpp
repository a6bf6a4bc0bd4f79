// SPDX-License-Identifier: GPL-2.0-or-later
// A ladder of 10 frames/s in two sizes of two temporal layers each: levels 0 and 1, levels 2 and 3.
#ifndef WEIR_TESTS_TWO_SIZES_HPP
#define WEIR_TESTS_TWO_SIZES_HPP

#include "common/base/level.h"

inline ladder two_sizes()
{
    ladder l{};
    l.source_fps = {10, 1};
    l.source_width = 640;
    l.source_height = 360;
    l.size_count = 2;
    l.sizes[0] = {320, 180, {10, 1}, 2};
    l.sizes[1] = {640, 360, {10, 1}, 2};
    l.level_count = 4;
    l.levels[0] = {0, 0, 100000};
    l.levels[1] = {0, 1, 150000};
    l.levels[2] = {1, 0, 300000};
    l.levels[3] = {1, 1, 400000};
    return l;
}

#endif
