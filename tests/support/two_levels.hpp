// SPDX-License-Identifier: GPL-2.0-or-later
// A ladder of 10 frames/s in two temporal layers: level 0 has the even frames (5 frames/s), level 1
// has all.
#ifndef WEIR_TESTS_TWO_LEVELS_HPP
#define WEIR_TESTS_TWO_LEVELS_HPP

#include "common/base/level.h"

inline ladder two_levels()
{
    ladder l{};
    l.source_fps = {10, 1};
    l.source_width = 640;
    l.source_height = 360;
    l.size_count = 1;
    l.sizes[0] = {640, 360, {10, 1}, 2};
    l.level_count = 2;
    l.levels[0] = {0, 0, 100000};
    l.levels[1] = {0, 1, 200000};
    return l;
}

#endif
