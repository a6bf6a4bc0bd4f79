// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/net/bytes_out.h"

static std::string text_of(const bytes_out &b)
{
    return std::string(b.data, b.data + b.len);
}

TEST_CASE("bytes_out: appends, drops from the front, is empty again after free")
{
    bytes_out b{};
    CHECK(bytes_out_add(&b, nullptr, 0) == 0);
    CHECK(b.data == nullptr);
    REQUIRE(bytes_out_add(&b, "abc", 3) == 0);
    REQUIRE(bytes_out_add(&b, "de", 2) == 0);
    CHECK(text_of(b) == "abcde");
    bytes_out_drop(&b, 2);
    CHECK(text_of(b) == "cde");
    bytes_out_drop(&b, 9);
    CHECK(b.len == 0);
    const std::string large(100000, 'x');
    REQUIRE(bytes_out_add(&b, large.data(), large.size()) == 0);
    CHECK(text_of(b) == large);
    bytes_out_free(&b);
    CHECK(b.data == nullptr);
    CHECK(b.cap == 0);
}
