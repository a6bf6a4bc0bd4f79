// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>

#include "server/http/http_body.h"

TEST_CASE("http_body: lives as long as a reference")
{
    auto *data = static_cast<uint8_t *>(malloc(3));
    memcpy(data, "abc", 3);
    http_body *b = http_body_new(data, 3);
    REQUIRE(b);
    CHECK(http_body_ref(b) == b);
    http_body_unref(b);
    CHECK(b->bytes == 3);
    CHECK(memcmp(b->data, "abc", 3) == 0);
    http_body_unref(b);
    http_body_unref(nullptr);
    http_body *empty = http_body_copy("", 0);
    REQUIRE(empty);
    CHECK(empty->bytes == 0);
    http_body_unref(empty);
    CHECK(http_body_new(nullptr, 0) == nullptr);
}

TEST_CASE("http_body: a piece keeps the body that it is of")
{
    http_body *b = http_body_copy("abcdef", 6);
    http_body *piece = http_body_piece(b, 2, 3), *end = http_body_piece(piece, 3, 0);
    REQUIRE(piece);
    REQUIRE(end);
    http_body_unref(b);
    CHECK(piece->bytes == 3);
    CHECK(memcmp(piece->data, "cde", 3) == 0);
    http_body_unref(piece);
    CHECK(end->bytes == 0);
    http_body_unref(end);
    CHECK(http_body_piece(nullptr, 0, 0) == nullptr);
}

TEST_CASE("http_body: what a library has dropped counts until its last reader has finished")
{
    size_t before = http_body_pinned();
    http_body *b = http_body_copy("abc", 3);
    REQUIRE(b);
    http_body_ref(b);
    CHECK(http_body_pinned() == before);
    http_body_drop(b);
    CHECK(http_body_pinned() == before + 3);
    http_body_unref(b);
    CHECK(http_body_pinned() == before);
    http_body_drop(http_body_copy("abc", 3)); // without readers
    http_body_drop(nullptr);
    CHECK(http_body_pinned() == before);
}
