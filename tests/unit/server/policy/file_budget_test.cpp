// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "server/policy/file_budget.h"

TEST_CASE("file_budget: the requested limit suffices, one file less does not")
{
    for (int viewers : {1, 2, 1024, 65535}) {
        CHECK(file_budget_viewers(file_budget_of(viewers)) == viewers);
        CHECK(file_budget_viewers(file_budget_of(viewers) - 1) == viewers - 1);
    }
    CHECK(file_budget_of(1024) == 5296);
}

TEST_CASE("file_budget: too small a limit allows no viewer, an unlimited one the max")
{
    CHECK(file_budget_viewers(0) == 0);
    CHECK(file_budget_viewers(FILE_BUDGET_OTHERS) == 0);
    CHECK(file_budget_viewers(UINT64_MAX) == INT32_MAX);
}
