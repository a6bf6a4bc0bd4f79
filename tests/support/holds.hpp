// SPDX-License-Identifier: GPL-2.0-or-later
// REQUIRE, where a test states something hundreds of thousands of times: Catch2 takes microseconds
// for each REQUIRE, so it sees only one that fails. Its condition is evaluated again then.
#pragma once

#include <catch2/catch.hpp>

#define HOLDS(...)                                                                                 \
    do {                                                                                           \
        if (!(__VA_ARGS__))                                                                        \
            REQUIRE(__VA_ARGS__);                                                                  \
    } while (0)
