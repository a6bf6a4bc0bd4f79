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

TEST_CASE("text: trimmed to its room")
{
    static const struct {
        const char *line;
        size_t cap;
        const char *text;
    } rows[] = {{"  ab c\t", 5, "ab c"}, {"ab c", 4, "ab"}, {"abcd", 3, "ab"},
                {"a   b", 5, "a"},       {"   ", 4, ""},    {"", 1, ""}};
    for (const auto &row : rows) {
        struct text t = text_trimmed(text_scan(text_from(row.line)), row.cap);
        CHECK(std::string(t.at, t.len) == row.text);
    }
}
