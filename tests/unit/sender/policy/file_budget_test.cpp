// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "sender/policy/file_budget.h"

TEST_CASE("file_budget: what is asked for is enough, one file less is not")
{
    for (int viewers : {1, 2, 1024, 65535}) {
        CHECK(file_budget_viewers(file_budget_of(viewers)) == viewers);
        CHECK(file_budget_viewers(file_budget_of(viewers) - 1) == viewers - 1);
    }
    CHECK(file_budget_of(1024) == 5280);
}

TEST_CASE("file_budget: too little is none, endless is as many as can be told")
{
    CHECK(file_budget_viewers(0) == 0);
    CHECK(file_budget_viewers(FILE_BUDGET_OTHERS) == 0);
    CHECK(file_budget_viewers(UINT64_MAX) == INT32_MAX);
}
