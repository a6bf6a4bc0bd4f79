// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/policy/stored_pass.h"

#include <catch2/catch.hpp>
#include <vector>

TEST_CASE("stored_pass: each group begins with an IDR picture")
{
    const struct {
        std::vector<int64_t> idrs;
        int64_t frames;
        int gop;
        bool fits;
    } rows[] = {
        {{0, 50, 100}, 150, 50, true},            // as the plan has them
        {{0, 25, 50, 75, 100}, 130, 50, true},    // more of them
        {{0, 7, 50, 61, 99, 100}, 101, 50, true}, // at a change of the scene, too
        {{0, 50, 100}, 151, 50, false},           // the last group has none
        {{0, 50, 100}, 101, 50, true},
        {{0, 48, 96}, 150, 50, false},
        {{0, 49, 51, 100}, 150, 50, false},
        {{0, 250, 500}, 600, 50, false}, // too few
        {{0}, 1, 50, true},
        {{0}, 50, 50, true},
        {{0}, 51, 50, false},
        {{1, 50}, 60, 50, false}, // it begins otherwise
        {{}, 10, 50, false},
    };
    for (const auto &row : rows) {
        INFO(row.frames << " frames, " << row.idrs.size() << " IDR pictures");
        CHECK(stored_pass_fits(row.idrs.data(), (int)row.idrs.size(), row.frames, row.gop) ==
              row.fits);
    }
}
