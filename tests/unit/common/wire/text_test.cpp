// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include "common/wire/text.h"

static struct text text_from(const char *s)
{
    return {s, strlen(s)};
}

TEST_CASE("text: slices compare and copy")
{
    CHECK(text_is(text_from("abc"), "abc"));
    CHECK_FALSE(text_is(text_from("abc"), "ab"));
    CHECK(text_is({nullptr, 0}, ""));
    CHECK(text_is_nocase(text_from("CSeq"), "cSEQ"));
    CHECK_FALSE(text_is_nocase(text_from("CSeq"), "CSeqs"));
    char out[4];
    text_copy(text_from("abcdef"), out, sizeof(out));
    CHECK(std::string(out) == "abc");
    text_copy({nullptr, 0}, out, sizeof(out));
    CHECK(out[0] == '\0');
}
